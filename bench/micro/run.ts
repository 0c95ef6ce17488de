/** Small pieces of the hot path, each timed alone: wall and processor time of one operation. */
import { figure } from '../report.ts';

export interface MicroCase {
  readonly name: string;
  /** One operation. What it returns is kept from being optimised away. */
  readonly run: () => unknown;
}

const batchMilliseconds = 10;
const totalMilliseconds = 700;
const warmMilliseconds = 200;

let sink: unknown;

const timeBatch = (run: () => unknown, count: number): number => {
  const before = performance.now();
  for (let index = 0; index < count; index += 1) sink = run();
  return performance.now() - before;
};

/** The median batch says what an operation takes; all batches together what it costs the processor, garbage collection included. */
const measureCase = ({ run }: MicroCase): { wall: number; cpu: number } => {
  let count = 1;
  const warmUntil = performance.now() + warmMilliseconds;
  while (performance.now() < warmUntil) {
    if (timeBatch(run, count) < batchMilliseconds) count *= 2;
  }
  const batches: number[] = [];
  const until = performance.now() + totalMilliseconds;
  const cpuBefore = process.cpuUsage();
  while (performance.now() < until) batches.push(timeBatch(run, count));
  const cpu = process.cpuUsage(cpuBefore);
  batches.sort((one, other) => one - other);
  return {
    wall: ((batches[batches.length >> 1] ?? 0) * 1000) / count,
    cpu: (cpu.user + cpu.system) / (count * batches.length),
  };
};

export const runMicro = async (only: readonly string[]): Promise<void> => {
  const { cases } = await import('./cases.ts');
  for (const each of cases) {
    if (only.length > 0 && !only.some((part) => each.name.includes(part))) continue;
    const { wall, cpu } = measureCase(each);
    process.stdout.write(
      `${each.name.padEnd(56)} ${figure(wall).padStart(8)} µs ${figure(cpu).padStart(8)} µs CPU\n`,
    );
  }
  if (sink === runMicro) throw new Error('unreachable');
};
