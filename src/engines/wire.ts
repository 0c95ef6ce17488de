/** What the house asks of a wire: a call → the request's body, and the answer's bytes → parts. Nothing else knows an engine's words. */
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import type { ApiError } from '../errors.ts';
import type { ChatCall, Parts } from '../ports/chat.ts';
import type { RequestBody } from './request-body.ts';

export interface Wire {
  /** Below a replica's base address. */
  readonly chatPath: string;
  encodeChat(model: Model, call: ChatCall, row: EngineRow): RequestBody;
  decodeStream(model: Model, call: ChatCall): StreamDecoder;
  /** Throws the failure the answer carries, or `engine_unreachable` when it cannot be read. */
  decodeWhole(model: Model, call: ChatCall, body: Buffer): Parts;
  /** The sentence inside an error answer, fit for the client; undefined when there is none. */
  errorSentence(body: string): string | undefined;
}

export interface StreamDecoder {
  /** Parts of one read, none or more. Throws `engine_unreachable` when the stream breaks a bound. */
  push(bytes: Buffer): Parts;
  /** The bytes are over: what was held, and a failure if the answer was not. */
  end(): Parts;
  /** The answer is whole, whatever the connection does next. */
  readonly done: boolean;
  /** Why the answer ended; comes after the parts of the same read. */
  readonly failure: ApiError | undefined;
  /** Events that were skipped because they could not be read. */
  readonly malformed: number;
}
