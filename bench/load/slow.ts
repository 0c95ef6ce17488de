/** Slow clients of a fast engine: measures backpressure and the memory that the subject buffers. */
import { Connection, type Listener } from './connection.ts';
import { Errors, type Measured, type RunResult, seconds, Window } from './window.ts';

export interface SlowSettings extends Measured {
  readonly port: number;
  readonly request: Buffer;
  readonly readers: number;
  /** Every client reads once, at most 256 KiB, per interval. */
  readonly readEverySeconds: number;
  readonly windowSeconds: number;
  /** The run stops at this growth, so that a subject that buffers everything does not exhaust the machine. */
  readonly maximumGrowth: number;
}

class SlowReader implements Listener {
  readonly connection: Connection;
  readonly #errors: Errors;
  bytes = 0;

  constructor(settings: SlowSettings, errors: Errors) {
    this.#errors = errors;
    this.connection = new Connection(settings.port);
    this.connection.send(settings.request, this);
  }

  data(_now: number, bytes: number): boolean {
    this.bytes += bytes;
    return false;
  }

  end(_now: number, status: number): void {
    this.#errors.add(status === 200 ? 'ended early' : `status ${status}`);
  }

  fail(reason: string): void {
    this.#errors.add(reason);
  }
}

export const runSlow = async (settings: SlowSettings): Promise<RunResult> => {
  const window = new Window(settings);
  const before = window.resident();
  const errors = new Errors();
  window.open();
  const readers = Array.from({ length: settings.readers }, () => new SlowReader(settings, errors));
  for (let passed = 0; passed < settings.windowSeconds; passed += settings.readEverySeconds) {
    await seconds(settings.readEverySeconds);
    if (window.resident() - before > settings.maximumGrowth) {
      errors.add(`held more than ${settings.maximumGrowth} MB`);
      break;
    }
    for (const reader of readers) reader.connection.resume();
  }
  const cost = window.close();
  const bytes = readers.reduce((sum, reader) => sum + reader.bytes, 0);
  if (readers.some((reader) => reader.bytes === 0)) errors.add('a reader got nothing');
  for (const reader of readers) reader.connection.leave();
  return {
    errors: errors.byReason,
    metrics: {
      read_mb: bytes / 2 ** 20,
      cpu_cores: cost.cpuMilliseconds / 1000 / cost.seconds,
      rss_peak_mb: cost.residentPeak,
      rss_growth_mb: cost.residentGrowth,
    },
  };
};
