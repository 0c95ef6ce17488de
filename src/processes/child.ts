/** One gateway process as the first process sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainOptions } from '../http/listen.ts';
import type { Order, Word } from './messages.ts';

export type Ready = Extract<Word, { word: 'ready' }>;
type Seen = Extract<Word, { word: 'seen' }>;
type Asked = Extract<Word, { word: 'asked' }>;

const lookPatience = 2_000;
/** What it asks of others has two seconds itself. */
const askPatience = 3_000;

export class Child {
  readonly #worker: Worker;
  readonly #answers = new Map<number, (word: Seen | Asked) => void>();
  #number = 0;
  /** Its place among the others; whoever comes after it has the same. */
  readonly place: number;
  /** Resolves with what it says when it listens; rejects when it ends before. */
  readonly ready: Promise<Ready>;
  readonly exited: Promise<string>;
  /** It listens, and answers. */
  started = false;
  /** It was told to end. */
  leaving = false;

  constructor(place: number, env: Readonly<Record<string, string>>) {
    this.place = place;
    this.#worker = cluster.fork(env);
    this.exited = once(this.#worker, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`));
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (word: Word) => {
        if (word.word === 'ready') {
          this.started = true;
          resolve(word);
        } else this.#answers.get(word.number)?.(word);
      });
      void this.exited.then((how) => reject(new Error(`A gateway process did not start (${how})`)));
    });
    // Whoever asks is told; a process that ends before anybody asked is told of by `exited`.
    this.ready.catch(() => undefined);
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

  /** Its metrics; undefined when it does not answer. */
  async look(): Promise<Seen['families'] | undefined> {
    const word = await this.#answerTo('look', lookPatience);
    return word?.word === 'seen' ? word.families : undefined;
  }

  /** Why it should get no work; undefined when it does not answer. */
  async unready(): Promise<Asked['unready'] | undefined> {
    const word = await this.#answerTo('ask', askPatience);
    return word?.word === 'asked' ? word.unready : undefined;
  }

  async #answerTo(order: 'look' | 'ask', patienceMs: number): Promise<Seen | Asked | undefined> {
    const number = ++this.#number;
    const answer = new Promise<Seen | Asked>((resolve) => this.#answers.set(number, resolve));
    const patience = new AbortController();
    const silence = delay(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    this.tell({ order, number });
    const word = await Promise.race([answer, silence, this.exited.then(() => undefined)]);
    patience.abort();
    this.#answers.delete(number);
    return word;
  }
}
