/** The measurement window: CPU time, memory and counters between open and close. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CpuSample,
  cpuBetween,
  machineMilliseconds,
  mainCpuBetween,
  residentMegabytes,
  sampleCpu,
} from '../measure.ts';

export type Metrics = Record<string, number>;

export interface WindowCost {
  readonly seconds: number;
  readonly cpuMilliseconds: number;
  /** The fraction used by main threads. */
  readonly mainShare: number;
  readonly residentPeak: number;
  readonly residentGrowth: number;
  /** Cores that the engine and this load generator used: near 1 they are the bottleneck, not the subject. */
  readonly engineCores: number;
  readonly generatorCores: number;
  /** Cores that everything else on the machine used: what a measurement had to share. */
  readonly otherCores: number;
}

/** Processes that a window measures. */
export interface Measured {
  readonly pids: readonly number[];
  readonly enginePid: number;
}

const samplingMilliseconds = process.platform === 'linux' ? 100 : 500;

/** Samples memory from construction on, CPU time from `open` on. */
export class Window {
  readonly #pids: readonly number[];
  readonly #helpers: readonly (readonly number[])[];
  readonly #baseline: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #peak: number;
  #openedAt = 0;
  #before: CpuSample | undefined;
  #helpersBefore: readonly CpuSample[] = [];
  #machineBefore = 0;

  constructor({ pids, enginePid }: Measured) {
    this.#pids = pids;
    this.#helpers = [[enginePid], [process.pid]];
    this.#baseline = residentMegabytes(pids);
    this.#peak = this.#baseline;
    if (pids.length > 0) this.#timer = setInterval(() => this.resident(), samplingMilliseconds);
  }

  get isOpen(): boolean {
    return this.#before !== undefined;
  }

  /** Current memory in megabytes. */
  resident(): number {
    const now = residentMegabytes(this.#pids);
    this.#peak = Math.max(this.#peak, now);
    return now;
  }

  open(): void {
    this.#before = sampleCpu(this.#pids);
    this.#helpersBefore = this.#helpers.map(sampleCpu);
    this.#machineBefore = machineMilliseconds();
    this.#openedAt = performance.now();
  }

  close(): WindowCost {
    const after = sampleCpu(this.#pids);
    const helpersAfter = this.#helpers.map(sampleCpu);
    const seconds = (performance.now() - this.#openedAt) / 1000;
    const [engineCores = 0, generatorCores = 0] = helpersAfter.map((sample, index) => {
      const earlier = this.#helpersBefore[index] ?? sample;
      return cpuBetween(earlier, sample) / 1000 / seconds;
    });
    clearInterval(this.#timer);
    this.resident();
    const before = this.#before ?? after;
    const cpuMilliseconds = cpuBetween(before, after);
    this.#before = undefined;
    const machineCores = (machineMilliseconds() - this.#machineBefore) / 1000 / seconds;
    const ownCores = cpuMilliseconds / 1000 / seconds + engineCores + generatorCores;
    return {
      seconds,
      cpuMilliseconds,
      mainShare: mainCpuBetween(before, after, this.#pids) / cpuMilliseconds,
      residentPeak: this.#peak,
      residentGrowth: this.#peak - this.#baseline,
      engineCores,
      generatorCores,
      otherCores: Math.max(0, machineCores - ownCores),
    };
  }
}

/** What every window reports of the processes around the subject. */
export const helperMetrics = ({ engineCores, generatorCores, otherCores }: WindowCost): Metrics => ({
  engine_cores: engineCores,
  generator_cores: generatorCores,
  other_cores: otherCores,
});

export const seconds = (count: number): Promise<void> => pause(count * 1000);

/** Waits for the window; longer, up to a bound, while there are too few responses for a meaningful CPU time. */
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
  /** The minimum number of responses. */
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
