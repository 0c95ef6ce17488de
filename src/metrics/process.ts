/** Metrics of this process: memory, CPU time, and the delay of its event loop. */
import { counter, gauge, histogram, type MetricFamily } from './exposition.ts';
import { Histogram } from './histogram.ts';

interface ProcessMetrics {
  families(): readonly MetricFamily[];
  close(): void;
}

export const watchProcess = (): ProcessMetrics => {
  const eventLoop = watchEventLoop();
  // Computed once: it would vary by a second now and then, which looks like a restart.
  const started = Math.round(Date.now() / 1000 - process.uptime());
  return {
    families: () => {
      const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const delay = 'sluice_event_loop_delay_seconds';
      return [
        gauge('process_resident_memory_bytes', 'Memory the system counts for the process.', rss),
        gauge('nodejs_memory_bytes', 'Memory by use.', [
          { labels: { use: 'heap' }, value: heapUsed },
          { labels: { use: 'external' }, value: external },
          { labels: { use: 'buffers' }, value: arrayBuffers },
        ]),
        counter('process_cpu_seconds_total', 'CPU time.', (user + system) / 1e6),
        histogram(
          delay,
          'How late the event loop was, measured ten times a second.',
          eventLoop.late.samples(delay, {}),
        ),
        gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', started),
      ];
    },
    close: () => eventLoop.close(),
  };
};

/** Each sample wakes an idle process. */
const sampleMs = 100;

/** How late a timer fires is how long any other event had to wait. */
export const watchEventLoop = (): { readonly late: Histogram; close(): void } => {
  const late = new Histogram();
  let due = performance.now() + sampleMs;
  const timer = setInterval(() => {
    const now = performance.now();
    late.observe(Math.max(0, now - due));
    // Counted from now: one long delay is one sample, not many that follow from it.
    due = now + sampleMs;
  }, sampleMs).unref();
  return { late, close: () => clearInterval(timer) };
};
