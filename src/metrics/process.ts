/** This process: memory, processor, and how late its event loop is. */
import { watchEventLoop } from './event-loop.ts';
import type { MetricFamily } from './exposition.ts';

export interface ProcessFigures {
  families(): readonly MetricFamily[];
  close(): void;
}

export const watchProcess = (): ProcessFigures => {
  const eventLoop = watchEventLoop();
  // Once: asked anew it differs by a second now and then, which looks like a restart.
  const started = Math.round(Date.now() / 1000 - process.uptime());
  return {
    families: () => {
      const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
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
          help: 'How late the event loop was, asked fifty times a second.',
          type: 'histogram',
          samples: eventLoop.late.samples('sluice_event_loop_delay_seconds', {}),
        },
        gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', started),
      ];
    },
    close: () => eventLoop.close(),
  };
};

export const gauge = (name: string, help: string, value: number): MetricFamily => ({
  name,
  help,
  type: 'gauge',
  samples: [{ labels: {}, value }],
});

export const counter = (name: string, help: string, value: number): MetricFamily => ({
  name,
  help,
  type: 'counter',
  samples: [{ labels: {}, value }],
});
