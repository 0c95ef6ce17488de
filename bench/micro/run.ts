/** Measures the CPU time of small operations of the hot path. */
import { figure } from '../report.ts';
import { median } from '../results.ts';

export interface MicroCase {
  readonly name: string;
  /** One operation. Its result is used, so that it is not optimized away. */
  readonly run: () => unknown;
}

const batchMilliseconds = 10;
const totalMilliseconds = 700;
const warmMilliseconds = 800;

let sink: unknown;

const runBatch = (run: () => unknown, count: number): void => {
  for (let index = 0; index < count; index += 1) sink = run();
};

const cpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** The median batch is the time of an operation; all batches together include garbage collection. */
const measureCase = ({ run }: MicroCase): { usual: number; all: number } => {
  let count = 1;
  const warmUntil = performance.now() + warmMilliseconds;
  while (performance.now() < warmUntil) {
    const before = cpuMicroseconds();
    runBatch(run, count);
    if (cpuMicroseconds() - before < batchMilliseconds * 1000) count *= 2;
  }
  const batches: number[] = [];
  const until = performance.now() + totalMilliseconds;
  const first = cpuMicroseconds();
  while (performance.now() < until) {
    const before = cpuMicroseconds();
    runBatch(run, count);
    batches.push((cpuMicroseconds() - before) / count);
  }
  return { usual: median(batches) ?? 0, all: (cpuMicroseconds() - first) / (count * batches.length) };
};

export const runMicro = (cases: readonly MicroCase[], only: readonly string[]): void => {
  for (const each of cases) {
    if (only.length > 0 && !only.some((part) => each.name.includes(part))) continue;
    const { usual, all } = measureCase(each);
    process.stdout.write(
      `${each.name.padEnd(56)} ${figure(usual).padStart(8)} µs, ${figure(all).padStart(8)} µs on average\n`,
    );
  }
  if (sink === runMicro) throw new Error('unreachable');
};
