/** Loaded into a measured Node process before its own code: tells, when asked over IPC, how late its event loop has been since last asked. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

if (process.send !== undefined) {
  const resolution = 10;
  const delay = monitorEventLoopDelay({ resolution });
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);
  delay.enable();
  process.on('message', (message) => {
    if (message !== 'loop-delay') return;
    const answer =
      delay.count === 0
        ? { p50: 0, p99: 0, max: 0 }
        : { p50: delay.percentile(50), p99: delay.percentile(99), max: delay.max };
    process.send?.({ loopDelay: { p50: late(answer.p50), p99: late(answer.p99), max: late(answer.max) } });
    delay.reset();
  });
  process.channel?.unref();
}
