/** Closed-loop load from a fixed number of clients: throughput and CPU time at capacity. */
import { Histogram } from '../histogram.ts';
import { Connection, type Listener } from './connection.ts';
import {
  Errors,
  type Extension,
  helperMetrics,
  type Measured,
  type Metrics,
  type RunResult,
  seconds,
  untilMeasured,
  Window,
  type WindowCost,
} from './window.ts';

export interface ClosedSettings extends Measured, Extension {
  readonly port: number;
  readonly request: Buffer;
  readonly clients: number;
  readonly warmSeconds: number;
  readonly windowSeconds: number;
  /** Statuses that count as success; default 200. */
  readonly answered?: readonly number[];
}

interface Tally {
  readonly window: Window;
  readonly errors: Errors;
  readonly latency: Histogram;
  readonly firstByte: Histogram;
  requests: number;
  events: number;
  stopped: boolean;
}

const longestPause = 250;
const chunksPerResponse = 100;
const justOk: readonly number[] = [200];

class Client implements Listener {
  readonly #settings: ClosedSettings;
  readonly #tally: Tally;
  #connection: Connection;
  #startedAt = 0;
  #first = true;

  constructor(settings: ClosedSettings, tally: Tally) {
    this.#settings = settings;
    this.#tally = tally;
    this.#connection = new Connection(settings.port);
    this.#ask();
  }

  #ask(): void {
    if (this.#connection.closed) this.#connection = new Connection(this.#settings.port);
    this.#first = true;
    this.#startedAt = performance.now();
    this.#connection.send(this.#settings.request, this);
  }

  data(now: number, _bytes: number, events: number): boolean {
    const tally = this.#tally;
    if (tally.window.isOpen) {
      tally.events += events;
      if (this.#first) tally.firstByte.record(now - this.#startedAt);
    }
    this.#first = false;
    return true;
  }

  end(now: number, status: number): void {
    const tally = this.#tally;
    if (!(this.#settings.answered ?? justOk).includes(status)) {
      this.#failed(`status ${status}`);
      return;
    }
    if (tally.window.isOpen) {
      tally.requests += 1;
      tally.latency.record(now - this.#startedAt);
    }
    if (!tally.stopped) this.#ask();
  }

  fail(reason: string): void {
    if (!this.#tally.stopped) this.#failed(reason);
  }

  /** Not at once: a subject that rejects everything would otherwise be called in a busy loop. */
  #failed(reason: string): void {
    this.#tally.errors.add(reason);
    setTimeout(() => {
      if (!this.#tally.stopped) this.#ask();
    }, longestPause);
  }

  leave(): void {
    this.#connection.leave();
  }
}

export const runClosed = async (settings: ClosedSettings): Promise<RunResult> => {
  const window = new Window(settings);
  const tally: Tally = {
    window,
    errors: new Errors(),
    latency: new Histogram(),
    firstByte: new Histogram(),
    requests: 0,
    events: 0,
    stopped: false,
  };
  const clients = Array.from({ length: settings.clients }, () => new Client(settings, tally));
  await seconds(settings.warmSeconds);
  window.open();
  // A slow gateway is measured by what it has sent of its streams.
  const answered = (): number => Math.max(tally.requests, tally.events / chunksPerResponse);
  await untilMeasured(settings.windowSeconds, answered, settings);
  const cost = window.close();
  tally.stopped = true;
  for (const client of clients) client.leave();
  return {
    errors: tally.errors.byReason,
    metrics: {
      ...closedMetrics(cost, tally.requests, tally.latency),
      chunks_per_second: tally.events / cost.seconds,
      cpu_us_per_chunk: (cost.cpuMilliseconds * 1000) / tally.events,
      first_token_p50_ms: tally.firstByte.percentile(0.5),
      first_token_p99_ms: tally.firstByte.percentile(0.99),
    },
  };
};

export const closedMetrics = (cost: WindowCost, requests: number, latency: Histogram): Metrics => ({
  requests,
  requests_per_second: requests / cost.seconds,
  cpu_us_per_request: (cost.cpuMilliseconds * 1000) / requests,
  cpu_cores: cost.cpuMilliseconds / 1000 / cost.seconds,
  cpu_main_share: cost.mainShare,
  latency_p50_ms: latency.percentile(0.5),
  latency_p99_ms: latency.percentile(0.99),
  rss_peak_mb: cost.residentPeak,
  rss_growth_mb: cost.residentGrowth,
  ...helperMetrics(cost),
});
