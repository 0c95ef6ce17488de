/** What is counted while the fleet runs, and one line of it for every second. */
import { Histogram } from '../histogram.ts';

/** How requests ended; all but the first are failures for a client. */
export const outcomes = [
  'completed',
  /** 429: the window was full; too many wait, or it waited too long. */
  'refusedByRate',
  'refusedByQueue',
  /** 503: Redis is unavailable and its process has no portion; no engine slot in time. */
  'refusedByOutage',
  'refusedByEngines',
  /** Its gateway died. */
  'broken',
] as const;
export type Outcome = (typeof outcomes)[number];
export type Counts = Record<'arrived' | 'started' | Outcome, number>;

export interface Second extends Counts {
  readonly second: number;
  readonly streaming: number;
  /** At gates, and for engine slots. */
  readonly queued: number;
  readonly slotless: number;
  /** Milliseconds from arrival to the start on an engine, of those that started in this second. */
  readonly waitP50: number;
  readonly waitP99: number;
  /** Milliseconds until Redis had decided. */
  readonly decisionP99: number;
  /** By primary: part of its core in use, and calls. */
  readonly redis: readonly number[];
  readonly redisCalls: number;
  readonly kafkaEvents: readonly number[];
  readonly kafkaLag: number;
  readonly inserts: number;
  readonly rows: number;
}

export const noCounts = (): Counts => ({
  arrived: 0,
  started: 0,
  completed: 0,
  refusedByRate: 0,
  refusedByQueue: 0,
  refusedByOutage: 0,
  refusedByEngines: 0,
  broken: 0,
});

/** Values that only grow, as they were a second ago: what they grew by is the second's. */
class Growth {
  #before: readonly number[] = [];

  of(values: Iterable<number>): number[] {
    const now = [...values];
    const grown = now.map((value, index) => value - (this.#before[index] ?? 0));
    this.#before = now;
    return grown;
  }
}

/** What of the fleet a line shows; all but `waiting` counts from the beginning. */
interface FleetState {
  readonly counts: Counts;
  readonly waiting: Pick<Second, 'queued' | 'slotless' | 'streaming'>;
  readonly redis: { readonly work: readonly number[]; readonly calls: number };
  readonly billing: {
    readonly events: Iterable<number>;
    readonly lag: number;
    readonly inserts: number;
    readonly rows: number;
  };
}

export class Timeline {
  readonly seconds: Second[] = [];
  /** Of requests that start on an engine, and of decisions, in the current second. */
  startWaits = new Histogram();
  decisionWaits = new Histogram();
  readonly #grown = { counts: new Growth(), work: new Growth(), events: new Growth(), other: new Growth() };

  /** The line of the second that is over. */
  end({ counts, waiting, redis, billing }: FleetState): Second {
    const names = Object.keys(counts) as (keyof Counts)[];
    const grown = this.#grown.counts.of(Object.values(counts));
    const [redisCalls = 0, inserts = 0, rows = 0] = this.#grown.other.of([
      redis.calls,
      billing.inserts,
      billing.rows,
    ]);
    const line = {
      ...(Object.fromEntries(names.map((name, index) => [name, grown[index] ?? 0])) as Counts),
      second: this.seconds.length + 1,
      ...waiting,
      waitP50: this.startWaits.percentile(0.5),
      waitP99: this.startWaits.percentile(0.99),
      decisionP99: this.decisionWaits.percentile(0.99),
      redis: this.#grown.work.of(redis.work),
      redisCalls,
      kafkaEvents: this.#grown.events.of(billing.events),
      kafkaLag: billing.lag,
      inserts,
      rows,
    };
    this.seconds.push(line);
    this.startWaits = new Histogram();
    this.decisionWaits = new Histogram();
    return line;
  }
}
