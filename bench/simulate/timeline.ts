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
export class Growth {
  #before: readonly number[] = [];

  of(values: Iterable<number>): number[] {
    const now = [...values];
    const grown = now.map((value, index) => value - (this.#before[index] ?? 0));
    this.#before = now;
    return grown;
  }
}

export class Waits {
  start = new Histogram();
  decision = new Histogram();

  /** Of the second that is over. */
  take(): { waitP50: number; waitP99: number; decisionP99: number } {
    const { start, decision } = this;
    this.start = new Histogram();
    this.decision = new Histogram();
    return {
      waitP50: start.percentile(0.5),
      waitP99: start.percentile(0.99),
      decisionP99: decision.percentile(0.99),
    };
  }
}
