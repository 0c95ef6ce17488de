/** Measures the CPU time that a process group uses, from Linux's `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Of Linux, whatever the kernel's own clock. */
const ticksPerSecond = 100;

const ticksOf = (group: number): number => {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let line: string;
    try {
      line = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      // It ended meanwhile.
      continue;
    }
    // The second field is a name in brackets, which may contain anything.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) === group) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks;
};

/** Seconds of CPU time within so many seconds. */
export const cpuSeconds = async (group: number, seconds: number): Promise<number> => {
  const before = ticksOf(group);
  await delay(seconds * 1000);
  return (ticksOf(group) - before) / ticksPerSecond;
};
