/** A call to an engine as its callers see it: who reads the response, how it is closed, how long it may take. */

import type { EngineError } from './engine-error.ts';
import type { Deadlines } from './http1/deadlines.ts';
import type { Wire } from './wire.ts';

/**
 * Reads a response: one head, bytes that are borrowed until the call returns, an end; or an error at any point, and
 * nothing after it. With `last` the end follows at once, and the bytes are borrowed until that returns.
 */
export interface EngineReader {
  head(head: EngineHead): void;
  bytes(bytes: Buffer, last: boolean): void;
  end(): void;
  error(error: EngineError): void;
}

/** The head of a successful response. */
export interface EngineHead {
  readonly contentType: string;
  /** The response is complete: closing the call drains what is left and keeps the connection. */
  settle(): void;
}

/** Closing a running call aborts it; after its end, closing does nothing. */
export interface EngineCall {
  close(): void;
}

/** In milliseconds. */
export interface CallLimits {
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

/** What all calls of a kind to one replica have in common. */
export interface CallSetting {
  readonly limits: CallLimits;
  readonly deadlines: Deadlines;
}

/** Reads the body of an error response; part of every wire. */
export type ReadError = Wire['readError'];
