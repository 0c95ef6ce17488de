/** The Streams port in one process: logs in memory, large ones in a file of the data folder. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { fail } from '../../errors.ts';
import type {
  KeptStream,
  NewStream,
  StreamLog,
  StreamSource,
  StreamStats,
  Streams,
} from '../../ports/streams.ts';
import { Log } from './log.ts';
import { LogBudget, type LogLimits } from './log-budget.ts';
import { SpillFile } from './spill-file.ts';

export interface LocalStreamsOptions {
  readonly folder: string;
  readonly mostGraceMs: number;
  readonly limits: LogLimits;
  readonly log?: Logger | undefined;
  /** Milliseconds between looks at what has expired; for tests. */
  readonly sweepMs?: number;
}

/** For the last events of those that run. */
const shutDownMs = 2_000;

export class LocalStreams implements Streams {
  readonly mostGraceMs: number;
  readonly logs = new Map<string, Log>();
  /** Called for a stream that nobody came back to. */
  onAbandoned: (id: string) => void = () => {};
  readonly #budget: LogBudget;
  readonly #file: SpillFile;
  readonly #log: Logger | undefined;
  readonly #timer: NodeJS.Timeout;
  #resumed = 0;
  #abandoned = 0;
  #cancelled = 0;
  #refused = 0;
  #paused = 0;
  #spillFailed = Number.NEGATIVE_INFINITY;

  constructor({ folder, mostGraceMs, limits, log, sweepMs = 500 }: LocalStreamsOptions) {
    this.mostGraceMs = mostGraceMs;
    this.#file = new SpillFile(folder);
    this.#budget = new LogBudget(limits, this.#file);
    this.#log = log;
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  open(stream: NewStream): StreamLog {
    const log = this.openLog(stream);
    return {
      publish: () => {
        log.publish();
        return undefined;
      },
      append: (text, count) => log.append(text, count),
      end: (error) => log.end(error),
      read: (backpressure) => log.read(-1, backpressure),
      discard: () => this.drop(log),
    };
  }

  openLog(stream: NewStream): Log {
    if (this.#budget.isShort || this.#budget.isFull(stream.subscription)) {
      this.#refused++;
      throw fail('unavailable', 'There is no room for another resumable stream: retry later, or without it');
    }
    const log = new Log(stream, this.#budget);
    log.onSpillFailed = (error) => this.#spillError(error);
    this.logs.set(stream.id, log);
    return log;
  }

  async find(id: string, subscription: string): Promise<KeptStream | undefined> {
    const log = this.logs.get(id);
    return log?.published === true && log.stream.subscription === subscription ? this.kept(log) : undefined;
  }

  /** Of a log whose reader is known to be its owner. */
  kept(log: Log): KeptStream {
    if (!log.ended) log.touched = performance.now();
    return {
      first: log.first,
      ended: log.ended,
      isDone: (after) => log.ended && after >= log.next - 1,
      opening: log.opening,
      closing: () => log.closing(),
      read: (after, backpressure) => {
        this.#resumed++;
        return log.read(after, backpressure);
      },
      cancel: async () => this.cancel(log),
      remove: async () => this.drop(log),
      fail: (error) => log.source?.fail(error),
    };
  }

  cancel(log: Log): void {
    if (log.ended) return;
    this.#cancelled++;
    log.source?.cancel();
  }

  drop(log: Log): void {
    if (this.logs.get(log.stream.id) !== log) return;
    this.logs.delete(log.stream.id);
    this.#paused += log.pauses;
    log.release();
  }

  running(): readonly StreamSource[] {
    return [...this.logs.values()].flatMap(({ source }) => source ?? []);
  }

  stats(): StreamStats {
    const logs = [...this.logs.values()];
    const running = logs.filter(({ ended }) => !ended);
    const attached = running.filter((log) => log.attached > 0).length;
    return {
      attached,
      detached: running.length - attached,
      ended: logs.length - running.length,
      memoryBytes: this.#budget.memory,
      diskBytes: this.#file.bytes,
      resumed: this.#resumed,
      abandoned: this.#abandoned,
      cancelled: this.#cancelled,
      paused: logs.reduce((sum, { pauses }) => sum + pauses, this.#paused),
      refused: this.#refused,
      lost: 0,
    };
  }

  async check(): Promise<void> {}

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.shutDown();
    for (const log of [...this.logs.values()]) this.drop(log);
    await this.#file.close();
  }

  /** Sources write why they end once their usage is recorded. */
  async shutDown(): Promise<void> {
    const running = [...this.logs.values()].filter(({ ended }) => !ended);
    for (const { source } of running) source?.fail(fail('unavailable', 'The server is shutting down'));
    const until = performance.now() + shutDownMs;
    while (running.some(({ ended }) => !ended) && performance.now() < until) await delay(10);
  }

  /** Time is up for what nobody reads; what waits for room is looked at again. */
  #sweep(): void {
    const now = performance.now();
    for (const log of this.logs.values()) {
      const isLate = log.published && log.attached === 0 && now - log.touched > log.stream.graceMs;
      if (isLate) this.#expire(log);
      else if (log.paused) log.balance();
      else if (this.#budget.isTight && (log.ended || log.attached === 0)) log.spillAll();
    }
  }

  #expire(log: Log): void {
    if (!log.ended) {
      this.#abandoned++;
      log.source?.cancel();
      this.onAbandoned(log.stream.id);
    }
    this.drop(log);
  }

  /** Once a minute: a full disk fails every time. */
  #spillError(error: unknown): void {
    const now = performance.now();
    if (now - this.#spillFailed < 60_000) return;
    this.#spillFailed = now;
    this.#log?.error({ err: error }, 'stream log not written to disk');
  }
}
