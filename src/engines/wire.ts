/** What the house asks of a wire: a call → the request's body, and the answer's bytes → parts. Nothing else knows an engine's words. */
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import type { ApiError } from '../errors.ts';
import type { ChatCall, Parts } from '../ports/chat.ts';
import type { AllowedAnswer, Decided, DecisionCall } from '../ports/decision.ts';
import type { Embedded, EmbeddingCall } from '../ports/embedding.ts';
import type { Flow } from '../ports/engine.ts';
import type { ImageCall } from '../ports/image.ts';
import type { Base64, MediaData } from '../ports/media.ts';
import type { RenderCall, RenderError, RenderOutput } from '../ports/render.ts';
import type { SpeechCall } from '../ports/speech.ts';
import type { TranscriptionCall } from '../ports/transcription.ts';
import type { EngineCall, EngineReader } from './http-call.ts';
import type { OutgoingBody } from './outgoing-body.ts';
import type { PickDecoder } from './pick-reader.ts';

export interface Wire {
  /** Below a replica's base address. */
  readonly chatPath: string;
  encodeChat(model: Model, call: ChatCall, row: EngineRow): OutgoingBody;
  decodeStream(model: Model, call: ChatCall): StreamDecoder;
  /** Throws the failure the answer carries, or `engine_unreachable` when it cannot be read. */
  decodeWhole(model: Model, call: ChatCall, body: Buffer): Parts;
  /** The sentence inside an error answer, fit for the client; undefined when there is none. */
  errorSentence(body: string): string | undefined;
  /** Absent: engines of this wire make no embeddings. */
  readonly embeddings?: EmbeddingWire;
  /** Absent: engines of this wire decide nothing. */
  readonly decisions?: DecisionWire;
  /** Absent: engines of this wire draw nothing. */
  readonly images?: ImageWire;
  /** Absent: engines of this wire render neither videos nor songs. */
  readonly renders?: RenderWire;
  /** Absent: engines of this wire do not speak. */
  readonly speech?: SpeechWire;
  /** Absent: engines of this wire do not listen. */
  readonly transcription?: TranscriptionWire;
}

export interface WholeRequest {
  readonly path: string;
  readonly body: OutgoingBody;
  /** JSON unless told. */
  readonly contentType?: string;
  /** The answer comes bit by bit, as fast as backpressure allows; whole unless told. */
  readonly streams?: boolean;
}

/** One request, for a whole answer unless it says otherwise. */
export type SendRequest = (request: WholeRequest, flow: Flow, reader: EngineReader) => EngineCall;

export interface EmbeddingWire {
  readonly path: string;
  encode(model: Model, call: EmbeddingCall): OutgoingBody;
  /** Vectors come out as the call asked for them, one for each of its inputs. */
  decode(call: EmbeddingCall, inputs: number): PickDecoder<Omit<Embedded, 'first'>>;
  /** A refusal that a smaller batch or a shorter input may not meet. */
  isAboutSize(refusal: unknown): boolean;
}

/** Of one image of an answer, decoded. */
export const mostImageBytes = 64 * 1024 * 1024;

export interface ImageWire {
  encode(model: Model, call: ImageCall): WholeRequest;
  /** As many images as the call asks for. */
  decode(call: ImageCall): PickDecoder<readonly MadeImage[]>;
}

export interface MadeImage {
  /** A string is a link to it. */
  readonly image: MediaData | string;
  readonly revisedPrompt: string | undefined;
}

/** A render is a job of the engine's, too: made, asked about, fetched, and given up or deleted. */
export interface RenderWire {
  /** Where jobs are made; one is below it, by its id. */
  path(call: RenderCall): string;
  /** `media`: base64 of the call's inputs, in their order. */
  encode(model: Model, call: RenderCall, media: readonly Base64[]): OutgoingBody;
  /** Throws the failure the answer carries, or `engine_unreachable` when it cannot be read. */
  decode(call: RenderCall, body: Buffer): EngineJob;
  /** Below a job: the bytes of an output, and a song as WAV while it renders. */
  contentPath(output: number): string;
  streamPath(output: number): string;
}

export interface EngineJob {
  readonly id: string;
  readonly state: 'waiting' | 'rendering' | 'done' | 'failed';
  /** 0 to 1. */
  readonly done: number;
  readonly outputs: readonly Omit<RenderOutput, 'type' | 'bytes'>[];
  /** Why it failed. */
  readonly failure: RenderError | undefined;
}

export interface SpeechWire {
  readonly path: string;
  /** Asks for the format that the model's row names. */
  encode(model: Model, call: SpeechCall): OutgoingBody;
  /** The failure that stands where sound should be. */
  failureOf(body: string): ApiError | undefined;
}

export interface TranscriptionWire {
  readonly path: string;
  encode(
    model: Model,
    call: TranscriptionCall,
    stream: boolean,
  ): { readonly body: OutgoingBody; readonly contentType: string };
  /** Throws the failure the answer carries, or `engine_unreachable` when it cannot be read. */
  decodeWhole(body: Buffer): string;
  decodeStream(): TranscriptDecoder;
}

export interface TranscriptDecoder {
  /** The text of one read, perhaps none. Throws `engine_unreachable` when the stream breaks a bound. */
  push(bytes: Buffer): string;
  /** The bytes are over: what was held. */
  end(): string;
  /** The transcript is whole, whatever the connection does next. */
  readonly done: boolean;
  readonly failure: ApiError | undefined;
}

/** Either all questions in one request, or the likelihood of each answer as the continuation of a prompt. */
export interface DecisionWire {
  readonly questions: {
    readonly path: string;
    encode(model: Model, call: DecisionCall): OutgoingBody;
    decode(call: DecisionCall): PickDecoder<readonly Decided[]>;
  };
  readonly continuations: {
    readonly path: string;
    /** Scores every answer after the same prompt. */
    encode(model: Model, prompt: string, answers: readonly AllowedAnswer[]): OutgoingBody;
    decode(answers: readonly AllowedAnswer[]): PickDecoder<Continuations>;
  };
}

export interface Continuations {
  readonly logprobs: readonly number[];
  /** Tokens of the prompt alone. */
  readonly tokens: number | undefined;
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
