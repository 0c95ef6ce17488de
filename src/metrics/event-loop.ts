/** A timer in; how late it was called, again and again, out: what any other event had to wait as well. */
import { Histogram } from './histogram.ts';

const everyMs = 20;

export interface EventLoopStats {
  /** From the start on, so that it does not matter who looks how often. */
  readonly late: Histogram;
  close(): void;
}

export const watchEventLoop = (): EventLoopStats => {
  const late = new Histogram();
  let due = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    late.observe(Math.max(0, now - due));
    // From now on: one long wait is one, not many that follow from it.
    due = now + everyMs;
  }, everyMs).unref();
  return { late, close: () => clearInterval(timer) };
};
