/** Logs of resumable streams: events with numbers that several readers follow, in this gateway or in another one. */
import type { Observable } from 'rxjs';
import { type ApiError, fail } from '../errors.ts';
import type { Backpressure, Pausable } from './backpressure.ts';
import type { LiveRequest } from './live.ts';

/** Events are numbered from 0 and written as text; each ends with an empty line. */
export interface NewStream {
  readonly id: string;
  readonly subscription: string;
  /** Milliseconds that it goes on without a reader, and that it is kept after its end. */
  readonly graceMs: number;
  readonly source: StreamSource;
}

/** What writes the events: paused while the log has no room for what nobody has read. */
export interface StreamSource extends Pausable {
  /** Ends it, as a client that leaves does; it then writes its last events. */
  cancel(): void;
  /** The gateway closes, or an operator cancels: ends it as this failure, which it writes. */
  fail(error: ApiError): void;
  live(): LiveRequest;
}

/** A log in the gateway that writes it. */
export interface StreamLog {
  /** Its id is about to be given out. Resolves when other gateways can find it, or cannot now; undefined: there are none. */
  publish(): Promise<void> | undefined;
  /** Whole events, `count` of them, whose numbers follow those before. */
  append(text: string, count: number): void;
  /** Nothing more is written. With an error the readers fail, too. */
  end(error?: unknown): void;
  /** Follows it from the start. */
  read(backpressure: Backpressure): Observable<StreamText>;
  /** Nobody was given its id. */
  discard(): void;
}

/** One or more whole events. */
export type StreamText = string | Uint8Array;

/** A log that was looked up. */
export interface KeptStream {
  /** Number of the first event that is kept; those before it were cut. */
  readonly first: number;
  readonly ended: boolean;
  /** It has ended, and nothing follows this event. */
  isDone(after: number): boolean;
  /** Its first event, though it may be cut. */
  readonly opening: string;
  /** The last of its events. */
  closing(): Promise<string>;
  /** Strictly after this event, as long as there are more; fails with `gone` where they were cut. */
  read(after: number, backpressure: Backpressure): Observable<StreamText>;
  /** Ends the source if it is still running; resolves when its last events are logged. */
  cancel(): Promise<void>;
  /** The log is no longer found; whoever reads it may read on. */
  remove(): Promise<void>;
  /** Ends the source as this failure, which it reports in the stream; undefined where another gateway writes it. */
  readonly fail: ((error: ApiError) => void) | undefined;
}

export interface StreamStats {
  /** Running with a reader, running without one, ended. */
  readonly attached: number;
  readonly detached: number;
  readonly ended: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Looked up by a reader. */
  readonly resumed: number;
  /** Ended because nobody came back. */
  readonly abandoned: number;
  /** Cancelled by a client. */
  readonly cancelled: number;
  /** Times that a full log paused its source. */
  readonly paused: number;
  /** Not opened for want of room. */
  readonly refused: number;
  /** Of a gateway that died: their last event is an error. */
  readonly lost: number;
}

export interface Streams {
  /** The longest grace period; 0: streams cannot be resumed. */
  readonly mostGraceMs: number;
  /** Throws `unavailable` when there is no room for another one. */
  open(stream: NewStream): StreamLog;
  /** Undefined for one that is unknown, another subscription's, or expired. Its time starts again, as somebody wants it. */
  find(id: string, subscription: string): Promise<KeptStream | undefined>;
  /** What writes those that run here, whoever reads them. */
  running(): readonly StreamSource[];
  stats(): StreamStats;
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The last events of a stream that cannot write them itself any more. */
export type LastEvents = (opening: string, next: number) => { readonly text: string; readonly count: number };

/** 410: says from where the stream can be had. */
export const goneBefore = (first: number): ApiError =>
  fail(
    'gone',
    `The events before ${first} are no longer kept: the stream can be had with after=${first - 1}`,
    {
      headers: { 'x-stream-first': String(first) },
    },
  );
