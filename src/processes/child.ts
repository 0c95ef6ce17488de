/** One gateway process as its supervisor sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainOptions } from '../http/listen.ts';
import type { FromChild, ToChild } from './messages.ts';

export type Ready = Extract<FromChild, { type: 'ready' }>;
type Metrics = Extract<FromChild, { type: 'metrics' }>;
type Readiness = Extract<FromChild, { type: 'readiness' }>;

const metricsTimeoutMs = 2_000;
/** Its own checks time out after two seconds. */
const readinessTimeoutMs = 3_000;

export class Child {
  readonly #worker: Worker;
  readonly #replies = new Map<number, (message: Metrics | Readiness) => void>();
  #number = 0;
  /** Reused by its successor, and a label of its metrics. */
  readonly slot: number;
  /** Resolves when it listens; rejects when it exits before that. */
  readonly ready: Promise<Ready>;
  /** Resolves with the signal, the exit code or the error that ended it. */
  readonly exited: Promise<string>;
  started = false;
  draining = false;

  constructor(slot: number, env: Readonly<Record<string, string>>) {
    this.slot = slot;
    this.#worker = cluster.fork(env);
    this.exited = once(this.#worker, 'exit').then(
      ([code, signal]) => String(signal ?? `code ${code}`),
      // It could not be spawned.
      String,
    );
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (message: FromChild) => {
        if (message.type === 'ready') {
          this.started = true;
          resolve(message);
        } else this.#replies.get(message.number)?.(message);
      });
      void this.exited.then((how) => reject(new Error(`A gateway process did not start (${how})`)));
    });
    // Nobody may be waiting for it yet; `exited` reports the same.
    this.ready.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  send(message: ToChild): void {
    if (this.#worker.isConnected()) this.#worker.send(message, () => undefined);
  }

  /** Resolves when it has exited. */
  drain(options: DrainOptions): Promise<string> {
    this.draining = true;
    this.send({ type: 'drain', ...options });
    return this.exited;
  }

  /** Undefined when it does not reply in time. */
  async metrics(): Promise<Metrics['families'] | undefined> {
    const reply = await this.#request('metrics', metricsTimeoutMs);
    return reply?.type === 'metrics' ? reply.families : undefined;
  }

  /** Why it should get no traffic; undefined when it does not reply in time. */
  async unready(): Promise<Readiness['unready'] | undefined> {
    const reply = await this.#request('readiness', readinessTimeoutMs);
    return reply?.type === 'readiness' ? reply.unready : undefined;
  }

  async #request(type: 'metrics' | 'readiness', timeoutMs: number): Promise<Metrics | Readiness | undefined> {
    const number = ++this.#number;
    const reply = new Promise<Metrics | Readiness>((resolve) => this.#replies.set(number, resolve));
    const timer = new AbortController();
    const timeout = delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
    this.send({ type, number });
    const message = await Promise.race([reply, timeout, this.exited.then(() => undefined)]);
    timer.abort();
    this.#replies.delete(number);
    return message;
  }
}
