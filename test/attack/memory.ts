/** Measures the resident memory of a process and its descendants. */
import { readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;
const intervalMs = 100;
const mebibyte = 1024 * 1024;

export interface MemoryWatch {
  /** MiB, the most so far. */
  readonly peak: number;
  stop(): void;
}

/** Peaks between two looks are missed: memory that is held shorter harms nobody either. */
export const watchMemory = (pid: number): MemoryWatch => {
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, residentBytes(pid));
  };
  look();
  const timer = setInterval(look, intervalMs);
  return {
    get peak() {
      return peak / mebibyte;
    },
    stop: () => clearInterval(timer),
  };
};

const residentBytes = (root: number): number => {
  const children = childrenByParent();
  let sum = 0;
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    sum += residentOf(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return sum;
};

const childrenByParent = (): ReadonlyMap<number, readonly number[]> => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A command's name may hold anything, brackets too: fields are counted from the last one.
    const stat = textOf(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [Number(name)]);
    else siblings.push(Number(name));
  }
  return children;
};

const residentOf = (pid: number): number =>
  Number(textOf(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * pageBytes;

/** Processes end while they are looked at. */
const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};
