/** Reads CPU time and memory of processes from the operating system, and describes the machine. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

/** Total CPU time of a set of processes so far. */
export interface CpuSample {
  readonly milliseconds: number;
  /** The part used by ended children, such as converters. */
  readonly endedChildren: number;
  /** CPU time of each live thread in nanoseconds, if the system reports it. */
  readonly threads: ReadonlyMap<string, number>;
}

const linux = process.platform === 'linux';

export const sampleCpu = (pids: readonly number[]): CpuSample => {
  const threads = new Map<string, number>();
  let milliseconds = 0;
  let endedChildren = 0;
  for (const pid of pids) {
    const { own, ended } = linux ? ticksOf(pid) : { own: psOf(pid).cpu, ended: 0 };
    milliseconds += own + ended;
    endedChildren += ended;
    if (linux) readThreads(pid, threads);
  }
  return { milliseconds, endedChildren, threads };
};

/** CPU milliseconds between two samples. */
export const cpuBetween = (before: CpuSample, after: CpuSample): number => {
  // The exact time of an ended thread is lost; the coarser count of the process still includes it.
  const allAlive = [...before.threads.keys()].every((thread) => after.threads.has(thread));
  if (!allAlive || after.threads.size === 0) return after.milliseconds - before.milliseconds;
  let nanoseconds = 0;
  for (const [thread, time] of after.threads) nanoseconds += time - (before.threads.get(thread) ?? 0);
  return nanoseconds / 1e6 + after.endedChildren - before.endedChildren;
};

/** The part of the main threads, which run all JavaScript outside workers. */
export const mainCpuBetween = (before: CpuSample, after: CpuSample, pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const thread = `${pid}/${pid}`;
    return sum + ((after.threads.get(thread) ?? 0) - (before.threads.get(thread) ?? 0)) / 1e6;
  }, 0);

/** CPU milliseconds that all processes of the machine have used. */
export const machineMilliseconds = (): number =>
  os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

/** Total resident memory of a set of processes in megabytes. */
export const residentMegabytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (linux ? residentOf(pid) : psOf(pid).resident), 0);

/** A process and all its descendants. */
export const processTree = (root: number): number[] => {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of linux ? parentsFromProc() : parentsFromPs()) {
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
};

export const describeMachine = (): Record<string, string | number> => ({
  processor: os.cpus()[0]?.model.trim() ?? 'unknown',
  cores: os.cpus().length,
  memory_gb: Math.round(os.totalmem() / 2 ** 30),
  system: `${os.platform()} ${os.release()} ${os.arch()}`,
  node: process.version,
  load_before: Number((os.loadavg()[0] ?? 0).toFixed(2)),
});

const ticksPerSecond = 100;

/** Milliseconds of a process, and of its children that have ended. */
const ticksOf = (pid: number): { own: number; ended: number } => {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const both = (user: string | undefined, system: string | undefined): number =>
    ((Number(user ?? 0) + Number(system ?? 0)) * 1000) / ticksPerSecond;
  return { own: both(fields[11], fields[12]), ended: both(fields[13], fields[14]) };
};

const readThreads = (pid: number, threads: Map<string, number>): void => {
  for (const thread of listOrEmpty(`/proc/${pid}/task`)) {
    const text = readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`);
    if (text !== '') threads.set(`${pid}/${thread}`, Number(text.split(' ', 1)[0]));
  }
};

const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

const parentsFromProc = (): { pid: number; parent: number }[] =>
  listOrEmpty('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const text = readOrEmpty(`/proc/${name}/stat`);
      return { pid: Number(name), parent: Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0) };
    });

const parentsFromPs = (): { pid: number; parent: number }[] =>
  ps(['-axo', 'pid=,ppid=']).map((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return { pid: pid ?? 0, parent: parent ?? 0 };
  });

const psOf = (pid: number): { cpu: number; resident: number } => {
  const [time = '', kilobytes = ''] = (ps(['-o', 'time=,rss=', '-p', String(pid)])[0] ?? '')
    .trim()
    .split(/\s+/);
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpu: seconds * 1000, resident: Number(kilobytes) / 1024 };
};

const ps = (args: readonly string[]): string[] =>
  spawnSync('ps', args, { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '');

// A process may exit between two samples: then it has used nothing more.
const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const listOrEmpty = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};
