/** Whatever an edge counts and holds in; its metrics out, summed up when somebody asks. */
import type { MetricFamily } from '../metrics/exposition.ts';
import { gauge } from '../metrics/process.ts';
import type { CutReason, EdgeCore } from './edge-core.ts';

export const noCuts = (): Record<CutReason, number> => ({
  'client left': 0,
  'reader stalled': 0,
  failed: 0,
  'shutting down': 0,
});

export const edgeFamilies = (core: EdgeCore, connections: number): readonly MetricFamily[] => {
  let [slow, answers, bodies] = [0, 0, 0];
  for (const response of core.open) {
    if (response.full) slow++;
    answers += response.bufferedReply;
    bodies += response.bufferedBody;
  }
  return [
    {
      name: 'sluice_http_responses_total',
      help: 'Answers by route and status; 499 where the client left before there was one.',
      type: 'counter',
      samples: [core.unrouted, ...core.routes.stats].flatMap((stats) => stats.samples()),
    },
    {
      name: 'sluice_http_cut_total',
      help: 'Answers that did not come to their end, by reason.',
      type: 'counter',
      samples: Object.entries(core.cuts).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    gauge('sluice_http_in_flight', 'Requests whose answer is not sent yet.', core.open.size),
    gauge('sluice_http_connections', 'Connections of clients, idle ones too.', connections),
    gauge('sluice_http_slow_readers', 'Answers that wait for their reader.', slow),
    {
      name: 'sluice_http_held_bytes',
      help: 'Bytes kept for slow readers, and of request bodies that are still arriving.',
      type: 'gauge',
      samples: [
        { labels: { what: 'answers' }, value: answers },
        { labels: { what: 'request bodies' }, value: bodies },
      ],
    },
  ];
};
