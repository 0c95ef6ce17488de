/** What every compared Kafka client does: publishes, acknowledged by all replicas, and consumes batches. */

export interface Published {
  readonly key: string;
  readonly value: string;
}

export interface ClientOptions {
  readonly brokers: readonly string[];
  /** The prefix of our own names; the topic exists. */
  readonly prefix: string;
  readonly topic: string;
  readonly group: string;
  /** Where the candidate's packages are installed. */
  readonly folder: string;
}

export interface Client {
  /** Resolves once all in-sync replicas have them; rejects when they may not, and the caller sends them again. */
  publish(messages: readonly Published[]): Promise<void>;
  /** From the oldest on; offsets are committed after each batch. Returns at once. */
  consume(receive: (values: readonly Uint8Array[]) => void): void;
  close(): Promise<void>;
}

export type OpenClient = (options: ClientOptions) => Promise<Client>;
