/** Delivers events at least once, in order per key. */
import type { UsageEvent } from '../../schemas/usage-event.ts';

export type Topic = 'usage' | 'jobs';

export interface EventMessage {
  /** Events of one key stay in order; usage uses the subscription. */
  readonly key: string;
  /** JSON. */
  readonly value: string | Buffer;
  /** What it says, where that is at hand: whoever takes it need not ask for the JSON. */
  readonly event?: UsageEvent;
}

export interface Events {
  /** Messages worth publishing at once; the publisher decides unless it is given. */
  readonly batch?: number;
  /** It publishes bytes, so messages need not come with their events. */
  readonly takesBytes?: boolean;
  /** Resolves once the events are safe on the other side; rejects when they may not be, and the caller sends them again. */
  publish(topic: Topic, messages: readonly EventMessage[]): Promise<void>;
  /** Resolves when the service answers; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A message as it comes out of the service; what it holds may be anything. */
export interface ReceivedMessage {
  readonly value: string | Uint8Array | null;
  /** The same, already read, where it did not leave the process. */
  readonly event?: UsageEvent;
}

/** A message that can never be used, and why: it is set aside for people to look at. */
export interface Rejected {
  /** Place in the batch. */
  readonly index: number;
  readonly reason: string;
}

/**
 * Takes a batch in order; what it resolved for is not given again, unless a process died meanwhile. A rejected
 * promise has the batch given again. `signal` is aborted when the reading is to stop: the batch may be left.
 */
export type Receiver = (
  messages: readonly ReceivedMessage[],
  signal: AbortSignal,
) => Promise<readonly Rejected[]>;

/** How the reading of a topic goes. */
export interface ReadingStats {
  /** False while the service cannot be read from. */
  readonly reading: boolean;
  /** Batches that were taken, and their messages. */
  readonly batches: number;
  readonly messages: number;
  /** Messages that were set aside. */
  readonly deadLetters: number;
  /** Batches that were not taken and are given again, once a try. */
  readonly retries: number;
  /** Of all readers together; empty while that is not known. */
  readonly lag: readonly Lag[];
}

export interface Lag {
  readonly partition: number;
  readonly messages: number;
}

/** Reads in the background until it is closed. */
export interface Reading {
  stats(): ReadingStats;
  close(): Promise<void>;
}
