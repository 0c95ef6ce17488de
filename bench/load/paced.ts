/** Reads many long-lived streams: CPU time per chunk, jitter and time to first token. */
import { Histogram } from '../histogram.ts';
import { Connection, type Listener } from './connection.ts';
import { microseconds, sinceStamp } from './stamp.ts';
import { Errors, helperMetrics, type Measured, type RunResult, seconds, Window } from './window.ts';

export interface PacedSettings extends Measured {
  readonly port: number;
  readonly request: Buffer;
  readonly streams: number;
  /** The streams start evenly over this time, so that their tokens do not coincide. */
  readonly rampSeconds: number;
  readonly settleSeconds: number;
  readonly windowSeconds: number;
  /** Tokens carry the time they were sent: of some streams, the delivery delay is recorded. */
  readonly stamped?: boolean;
}

/** More would only cost the load generator CPU time. */
const stampedStreams = 200;

/** One stream; the phase selects the histogram of its gaps. */
export class LiveStream implements Listener {
  readonly connection: Connection;
  readonly #tally: StreamTally;
  readonly #startedAt = performance.now();
  #lastAt = 0;
  /** Set on streams whose tokens are stamped. */
  text?: (read: string) => void;

  constructor(port: number, request: Buffer, tally: StreamTally) {
    this.#tally = tally;
    this.connection = new Connection(port);
    this.connection.send(request, this);
  }

  data(now: number, _bytes: number, events: number): boolean {
    if (events === 0) return true;
    const tally = this.#tally;
    tally.events += events;
    if (this.#lastAt === 0) tally.firstToken.record(now - this.#startedAt);
    else tally.gaps?.record(now - this.#lastAt);
    this.#lastAt = now;
    return true;
  }

  end(_now: number, status: number): void {
    this.#tally.errors.add(status === 200 ? 'ended early' : `status ${status}`);
  }

  fail(reason: string): void {
    this.#tally.errors.add(reason);
  }
}

export interface StreamTally {
  readonly errors: Errors;
  readonly firstToken: Histogram;
  /** Where gaps are recorded now; nowhere outside the window. */
  gaps: Histogram | undefined;
  events: number;
}

/** Starts streams evenly over the ramp. */
export const startStreams = async (
  settings: Pick<PacedSettings, 'port' | 'request' | 'streams' | 'rampSeconds'>,
  tally: StreamTally,
): Promise<LiveStream[]> => {
  const streams: LiveStream[] = [];
  const startedAt = performance.now();
  while (streams.length < settings.streams) {
    const due = ((performance.now() - startedAt) / 1000 / settings.rampSeconds) * settings.streams;
    while (streams.length < Math.min(due, settings.streams)) {
      streams.push(new LiveStream(settings.port, settings.request, tally));
    }
    await seconds(0.001);
  }
  return streams;
};

export const runPaced = async (settings: PacedSettings): Promise<RunResult> => {
  const window = new Window(settings);
  const gaps = new Histogram();
  const tally: StreamTally = {
    errors: new Errors(),
    firstToken: new Histogram(),
    gaps: undefined,
    events: 0,
  };
  const streams = await startStreams(settings, tally);
  const delay = settings.stamped === true ? recordDelay(streams, window) : undefined;
  await seconds(settings.settleSeconds);
  tally.events = 0;
  tally.gaps = gaps;
  window.open();
  await seconds(settings.windowSeconds);
  const cost = window.close();
  tally.gaps = undefined;
  const { events } = tally;
  for (const stream of streams) stream.connection.leave();
  return {
    errors: tally.errors.byReason,
    metrics: {
      chunks_per_second: events / cost.seconds,
      cpu_us_per_chunk: (cost.cpuMilliseconds * 1000) / events,
      cpu_cores: cost.cpuMilliseconds / 1000 / cost.seconds,
      cpu_main_share: cost.mainShare,
      first_token_p50_ms: tally.firstToken.percentile(0.5),
      first_token_p99_ms: tally.firstToken.percentile(0.99),
      gap_p50_ms: gaps.percentile(0.5),
      gap_p99_ms: gaps.percentile(0.99),
      gap_max_ms: gaps.percentile(1),
      rss_peak_mb: cost.residentPeak,
      rss_growth_mb: cost.residentGrowth,
      ...helperMetrics(cost),
      ...(delay === undefined
        ? {}
        : { delay_p50_ms: delay.percentile(0.5), delay_p99_ms: delay.percentile(0.99) }),
    },
  };
};

/** From the engine's write to the client's read, of some of the streams. */
const recordDelay = (streams: readonly LiveStream[], window: Window): Histogram => {
  const delay = new Histogram();
  const step = Math.max(1, Math.floor(streams.length / stampedStreams));
  const text = (read: string): void => {
    const milliseconds = window.isOpen ? sinceStamp(read, microseconds()) : undefined;
    if (milliseconds !== undefined) delay.record(milliseconds);
  };
  for (let index = 0; index < streams.length; index += step) {
    const stream = streams[index];
    if (stream !== undefined) stream.text = text;
  }
  return delay;
};
