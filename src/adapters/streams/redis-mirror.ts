/** Copies the log of a stream that this gateway writes to Redis, and notifies the gateways that read it there. */
import type { Logger } from 'pino';
import { Backpressure } from '../../ports/backpressure.ts';
import { countEvents } from './event-text.ts';
import type { Log } from './log.ts';
import { type RedisStore, textOf } from './redis-store.ts';

/** Bytes that are sent at once; what comes meanwhile is sent next. */
const mostBytes = 256 * 1024;
const retryMs = 500;
/** A stream that runs is kept for longer than nobody reads it. */
const runningMs = 60_000;
/** Gateways that have not asked for so long are no longer notified. */
const followMs = 5_000;

export class RedisMirror {
  readonly #log: Log;
  readonly #store: RedisStore;
  readonly #logger: Logger | undefined;
  readonly #backpressure = new Backpressure();
  readonly #followers = new Map<string, number>();
  #pending: string[] = [];
  #pendingBytes = 0;
  /** Events and bytes that Redis has. */
  #next = 0;
  #sent = 0;
  #hasOpening = false;
  #isSending = false;
  #ended = false;
  #closed = false;
  #onDone: () => void = () => {};
  /** Resolves when Redis has all of it, or never will. */
  readonly done = new Promise<void>((resolve) => {
    this.#onDone = resolve;
  });

  constructor(log: Log, store: RedisStore, logger: Logger | undefined) {
    this.#log = log;
    this.#store = store;
    this.#logger = logger;
    log.holdFrom = 0;
  }

  start(): void {
    this.#log.read(-1, this.#backpressure, true).subscribe({
      next: (text) => this.#add(textOf(text)),
      complete: () => this.#end(),
      error: () => this.#end(),
    });
  }

  get ttlMs(): number {
    return this.#log.stream.graceMs + runningMs;
  }

  /** A gateway reads it in Redis. */
  follow(instance: string): void {
    this.#followers.set(instance, performance.now() + followMs);
  }

  /** Once Redis has what was written to its end; one that is still written is not copied any longer. */
  finish(): Promise<void> {
    if (!this.#log.ended) this.close();
    return this.done;
  }

  /** It stays in this gateway. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#log.holdFrom = undefined;
    this.#log.balance();
    this.#onDone();
  }

  #add(text: string): void {
    if (this.#closed) return;
    this.#pending.push(text);
    this.#pendingBytes += Buffer.byteLength(text);
    if (this.#pendingBytes >= mostBytes) this.#backpressure.pause();
    this.#send();
  }

  #end(): void {
    this.#ended = true;
    this.#send();
  }

  #send(): void {
    if (this.#isSending || this.#closed) return;
    const text = this.#pending.join('');
    if (text === '' && !this.#ended) return;
    const bytes = this.#pendingBytes;
    const ended = this.#ended;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#isSending = true;
    void this.#deliver(text, bytes, ended);
  }

  async #deliver(text: string, bytes: number, ended: boolean): Promise<void> {
    const next = this.#next + countEvents(text);
    while (!this.#closed) {
      try {
        const isOurs = await this.#store.append(this.#log.stream.id, {
          first: this.#next,
          next,
          text,
          firstKept: Math.min(this.#log.first, this.#next),
          opening: this.#hasOpening ? '' : this.#log.opening,
          ended,
          ttlMs: ended ? this.#log.stream.graceMs : this.ttlMs,
        });
        if (!isOurs) this.giveUp('ended by another gateway, or lost by Redis');
        break;
      } catch (error) {
        const behind = this.#log.written - this.#sent;
        if (behind > mostBytes * 4) this.giveUp('Redis is unavailable', error);
        else await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
    this.#isSending = false;
    if (this.#closed) return;
    this.#next = next;
    this.#sent += bytes;
    this.#hasOpening ||= text !== '';
    this.#log.holdFrom = ended ? undefined : this.#sent;
    this.#log.balance();
    this.#notify();
    if (ended) {
      this.#closed = true;
      this.#onDone();
      return;
    }
    this.#backpressure.resume();
    this.#send();
  }

  #notify(): void {
    const now = performance.now();
    for (const [instance, until] of this.#followers)
      if (until < now) this.#followers.delete(instance);
      else this.#store.send(instance, `grew ${this.#log.stream.id}`);
  }

  giveUp(reason: string, error?: unknown): void {
    this.#logger?.warn({ stream: this.#log.stream.id, reason, err: error }, 'stream no longer shared');
    this.close();
  }
}
