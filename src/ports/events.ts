/** Carries events to whoever counts them: at least once, in order per key. */

export interface EventMessage {
  /** Events of one key stay in order; usage uses the subscription. */
  readonly key: string;
  readonly json: string;
}

export type Topic = 'usage' | 'jobs';

export interface Events {
  /** Resolves once the events are safe on the other side; rejects when they may not be, and the caller sends them again. */
  publish(topic: Topic, messages: readonly EventMessage[]): Promise<void>;
  /** Resolves when the service answers; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}
