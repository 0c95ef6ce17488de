/** One gateway process as the first process sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainOptions } from '../http/listen.ts';
import type { Order, Word } from './messages.ts';

export type Ready = Extract<Word, { word: 'ready' }>;
export type Seen = Extract<Word, { word: 'seen' }>;

const lookPatience = 2_000;

export class Child {
  readonly #worker: Worker;
  readonly #looks = new Map<number, (seen: Seen) => void>();
  #number = 0;
  /** Resolves with what it says when it listens; rejects when it ends before. */
  readonly ready: Promise<Ready>;
  readonly exited: Promise<string>;
  /** It was told to end. */
  leaving = false;

  constructor(env: Readonly<Record<string, string>>) {
    this.#worker = cluster.fork(env);
    this.exited = once(this.#worker, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`));
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (word: Word) => {
        if (word.word === 'ready') resolve(word);
        else this.#looks.get(word.number)?.(word);
      });
      void this.exited.then((how) => reject(new Error(`A gateway process did not start (${how})`)));
    });
    // Whoever asks is told; a process that ends before anybody asked is told of by `exited`.
    this.ready.catch(() => undefined);
  }

  get id(): number {
    return this.#worker.id;
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  tell(order: Order): void {
    if (this.#worker.isConnected()) this.#worker.send(order, () => undefined);
  }

  /** Lets what runs end, then ends. */
  drain(options: DrainOptions): Promise<string> {
    this.leaving = true;
    this.tell({ order: 'drain', ...options });
    return this.exited;
  }

  /** Its metrics and whether it is ready; undefined when it does not answer. */
  async look(): Promise<Seen | undefined> {
    const number = ++this.#number;
    const answer = new Promise<Seen>((resolve) => this.#looks.set(number, resolve));
    const patience = new AbortController();
    const silence = delay(lookPatience, undefined, { signal: patience.signal }).catch(() => undefined);
    this.tell({ order: 'look', number });
    const seen = await Promise.race([answer, silence, this.exited.then(() => undefined)]);
    patience.abort();
    this.#looks.delete(number);
    return seen;
  }
}
