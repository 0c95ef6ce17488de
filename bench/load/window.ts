/** The stretch of time that counts: processor time, memory and whatever a scenario tallies, between open and close. */
import { setTimeout as pause } from 'node:timers/promises';
import { type CpuSample, cpuBetween, mainCpuBetween, residentMegabytes, sampleCpu } from '../measure.ts';

export type Metrics = Record<string, number>;

export interface WindowCost {
  readonly seconds: number;
  readonly cpuMilliseconds: number;
  /** Share of it that the main threads used. */
  readonly mainShare: number;
  readonly residentPeak: number;
  readonly residentGrowth: number;
}

const samplingMilliseconds = process.platform === 'linux' ? 100 : 500;

/** Follows memory from its making; processor time from `open` on. */
export class Window {
  readonly #pids: readonly number[];
  readonly #baseline: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #peak: number;
  #openedAt = 0;
  #before: CpuSample | undefined;

  constructor(pids: readonly number[]) {
    this.#pids = pids;
    this.#baseline = residentMegabytes(pids);
    this.#peak = this.#baseline;
    if (pids.length > 0) this.#timer = setInterval(() => this.resident(), samplingMilliseconds);
  }

  get isOpen(): boolean {
    return this.#before !== undefined;
  }

  /** Megabytes held now. */
  resident(): number {
    const now = residentMegabytes(this.#pids);
    this.#peak = Math.max(this.#peak, now);
    return now;
  }

  open(): void {
    this.#before = sampleCpu(this.#pids);
    this.#openedAt = performance.now();
  }

  close(): WindowCost {
    const after = sampleCpu(this.#pids);
    const seconds = (performance.now() - this.#openedAt) / 1000;
    clearInterval(this.#timer);
    this.resident();
    const before = this.#before ?? after;
    const cpuMilliseconds = cpuBetween(before, after);
    this.#before = undefined;
    return {
      seconds,
      cpuMilliseconds,
      mainShare: mainCpuBetween(before, after, this.#pids) / cpuMilliseconds,
      residentPeak: this.#peak,
      residentGrowth: this.#peak - this.#baseline,
    };
  }
}

export const seconds = (count: number): Promise<void> => pause(count * 1000);

/** Waits for the window's time; longer, up to a bound, where so little was answered that its cost says nothing. */
export const untilMeasured = async (
  windowSeconds: number,
  answered: () => number,
  { atLeast = 0, longestSeconds = 10 }: Extension,
): Promise<void> => {
  await seconds(windowSeconds);
  const until = performance.now() + longestSeconds * 1000;
  while (answered() < atLeast && performance.now() < until) await seconds(0.02);
};

export interface Extension {
  /** Answers without which the window stays open. */
  readonly atLeast?: number;
  readonly longestSeconds?: number;
}

/** Counts failures by their reason. */
export class Errors {
  readonly byReason: Record<string, number> = {};

  add(reason: string): void {
    this.byReason[reason] = (this.byReason[reason] ?? 0) + 1;
  }
}

export interface RunResult {
  readonly metrics: Metrics;
  readonly errors: Readonly<Record<string, number>>;
}
