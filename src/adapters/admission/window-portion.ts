/** What a process may have in a window while Redis is unavailable, so that all together never exceed the limit. */
import type { Portion } from './redis-outage.ts';

interface WindowBefore {
  readonly limit: number;
  /** What this process had in the window when the outage began, and the most that all can have had. */
  readonly own: number;
  readonly most: number;
  /** Milliseconds since then. */
  readonly elapsed: number;
  readonly windowMs: number;
  /** Milliseconds until the last process has noticed, and does nothing by what it knew before. */
  readonly lateMs: number;
}

/**
 * At first what it had there when the outage began, which counts for all processes, and its portion of what nobody can
 * have used: together no more than the limit. A window later those with more than an even portion go back to that, and
 * when what they had used has expired, the others get theirs.
 */
export const windowPortion = (portion: Portion, before: WindowBefore): number => {
  const { limit, own, most, elapsed, windowMs, lateMs } = before;
  const even = part(limit, portion);
  if (elapsed >= 2 * windowMs + lateMs) return even;
  const inherited = own + part(limit - Math.max(own, most), portion);
  return elapsed < windowMs ? inherited : Math.min(inherited, even);
};

/**
 * Every `replicas`-th of so many, counted from `rank`. Processes that believe in more others than there are take no more
 * than they would if they knew.
 */
const part = (whole: number, { replicas, rank, established }: Portion): number =>
  established ? Math.max(0, Math.ceil((whole - rank) / replicas)) : 0;
