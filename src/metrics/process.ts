/** This process: memory, processor, and how late its event loop is. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Family } from './exposition.ts';

export interface ProcessFigures {
  families(): readonly Family[];
  close(): void;
}

export const watchProcess = (): ProcessFigures => {
  // Reset with each look: what is told is of the time since the last one.
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return {
    families: () => {
      const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const late = [
        ['0.5', delay.percentile(50)],
        ['0.99', delay.percentile(99)],
        ['1', delay.max],
      ] as const;
      delay.reset();
      return [
        gauge('process_resident_memory_bytes', 'Memory the system counts for the process.', rss),
        {
          name: 'nodejs_memory_bytes',
          help: 'Memory by use.',
          type: 'gauge',
          samples: [
            { labels: { use: 'heap' }, value: heapUsed },
            { labels: { use: 'external' }, value: external },
            { labels: { use: 'buffers' }, value: arrayBuffers },
          ],
        },
        counter('process_cpu_seconds_total', 'Processor time.', (user + system) / 1e6),
        {
          name: 'sluice_event_loop_delay_seconds',
          help: 'How late the event loop was since the last look, by quantile.',
          type: 'gauge',
          samples: late.map(([quantile, nanoseconds]) => ({
            labels: { quantile },
            // Nothing was measured yet: not a number.
            value: Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0,
          })),
        },
        gauge(
          'process_start_time_seconds',
          'When the process started, in Unix seconds.',
          Math.round(Date.now() / 1000 - process.uptime()),
        ),
      ];
    },
    close: () => delay.disable(),
  };
};

export const gauge = (name: string, help: string, value: number): Family => ({
  name,
  help,
  type: 'gauge',
  samples: [{ labels: {}, value }],
});

export const counter = (name: string, help: string, value: number): Family => ({
  name,
  help,
  type: 'counter',
  samples: [{ labels: {}, value }],
});
