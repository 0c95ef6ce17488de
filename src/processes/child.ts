/** One gateway process as its supervisor sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AdminReply, AdminRequest } from '../admin/route.ts';
import { within } from '../helpers/within.ts';
import type { DrainOptions } from '../http/listen.ts';
import type { FromChild, ToChild } from './messages.ts';

export type Ready = Extract<FromChild, { type: 'ready' }>;
type Metrics = Extract<FromChild, { type: 'metrics' }>;
type Readiness = Extract<FromChild, { type: 'readiness' }>;
type Admin = Extract<FromChild, { type: 'admin' }>;
type Reply = Metrics | Readiness | Admin;

type Question =
  | { readonly type: 'metrics' | 'readiness' }
  | { readonly type: 'admin'; readonly request: AdminRequest };

const metricsTimeoutMs = 2_000;
/** Its own checks time out after two seconds. */
const readinessTimeoutMs = 3_000;
/** Its own limit is 30 seconds; where others reply too, nobody waits for one that hangs. */
const adminTimeoutMs = { one: 31_000, all: 5_000 } as const;

export class Child {
  readonly #worker: Worker;
  readonly #replies = new Map<number, (message: Reply) => void>();
  #number = 0;
  /** Reused by its successor, and a label of its metrics. */
  readonly slot: number;
  /** Resolves when it listens; rejects when it exits before that. */
  readonly ready: Promise<Ready>;
  /** Resolves with the signal, the exit code or the error that ended it. */
  readonly exited: Promise<string>;
  started = false;
  draining = false;
  #heard = false;
  /** Looks in a row that found no message since the last. */
  #silentChecks = 0;

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
        this.#heard = true;
        this.#silentChecks = 0;
        if (message.type === 'heartbeat') return;
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

  /**
   * To be called once per heartbeat; true when so many in a row are missing. Looks are counted, not time: a supervisor
   * that was stopped itself finds all messages of its children unread, and looks only once. A process that has never
   * sent one is being loaded, which takes longer on a busy machine.
   */
  hangs(heartbeats: number): boolean {
    this.#silentChecks++;
    return this.#silentChecks > heartbeats * (this.#heard ? 1 : 4);
  }

  /** Also ends a stopped process, or one whose event loop is blocked: it need not cooperate. */
  kill(): void {
    this.#silentChecks = 0;
    this.#worker.process.kill('SIGKILL');
  }

  /** Undefined when it does not reply in time. */
  async metrics(): Promise<Metrics['families'] | undefined> {
    const reply = await this.#request({ type: 'metrics' }, metricsTimeoutMs);
    return reply?.type === 'metrics' ? reply.families : undefined;
  }

  /** Why it should get no traffic; undefined when it does not reply in time. */
  async unready(): Promise<Readiness['unready'] | undefined> {
    const reply = await this.#request({ type: 'readiness' }, readinessTimeoutMs);
    return reply?.type === 'readiness' ? reply.unready : undefined;
  }

  /** Undefined when it does not reply in time. */
  async admin(request: AdminRequest, whom: 'one' | 'all'): Promise<AdminReply | undefined> {
    const reply = await this.#request({ type: 'admin', request }, adminTimeoutMs[whom]);
    return reply?.type === 'admin' ? reply.reply : undefined;
  }

  async #request(question: Question, timeoutMs: number): Promise<Reply | undefined> {
    const number = ++this.#number;
    const reply = new Promise<Reply>((resolve) => this.#replies.set(number, resolve));
    const gone = this.exited.then(() => undefined);
    this.send({ ...question, number });
    const message = await within(timeoutMs, Promise.race([reply, gone]), () => undefined);
    this.#replies.delete(number);
    return message;
  }
}
