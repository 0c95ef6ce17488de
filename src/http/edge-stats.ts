/** The metric families of the HTTP edge. */
import { counter, gauge, type MetricFamily } from '../metrics/exposition.ts';
import type { BodyBudget } from './body/budget.ts';
import type { CutReason, EdgeCore } from './edge-core.ts';

export const noCuts = (): Record<CutReason, number> => ({
  'client disconnected': 0,
  'client stalled': 0,
  failed: 0,
  cancelled: 0,
  shutdown: 0,
});

export const edgeFamilies = (core: EdgeCore, connections: number): readonly MetricFamily[] => {
  let [slow, replies, bodies] = [0, 0, 0];
  for (const response of core.open) {
    if (response.full) slow++;
    replies += response.bufferedReply;
    bodies += response.bufferedBody;
  }
  return [
    counter(
      'sluice_http_responses_total',
      'Responses by route and status; 499 where the client disconnected before there was one.',
      [core.unrouted, ...core.routes.stats, ...core.pages.stats].flatMap((stats) => stats.samples()),
    ),
    counter(
      'sluice_http_cut_total',
      'Responses that were not sent to their end, by reason.',
      Object.entries(core.cuts).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    gauge('sluice_http_in_flight', 'Requests whose response is not sent yet.', core.open.size),
    gauge('sluice_http_connections', 'Connections of clients, idle ones too.', connections),
    gauge('sluice_http_slow_readers', 'Responses that wait for their client to read.', slow),
    gauge(
      'sluice_http_held_bytes',
      'Bytes buffered for slow clients, and of request bodies that still arrive.',
      [
        { labels: { what: 'answers' }, value: replies },
        { labels: { what: 'request bodies' }, value: bodies },
      ],
    ),
    ...bodyFamilies(core.bodies),
  ];
};

const bodyFamilies = (budget: BodyBudget): readonly MetricFamily[] => [
  gauge('sluice_http_body_bytes', 'Memory of request bodies over 64 KiB, by state of their requests.', [
    { labels: { state: 'unadmitted' }, value: budget.unadmitted },
    { labels: { state: 'admitted' }, value: budget.admitted },
  ]),
  gauge('sluice_http_body_waiting', 'Request bodies that wait for memory.', budget.waiting),
  counter('sluice_http_body_waits_total', 'Request bodies that had to wait for memory.', budget.waits),
  counter(
    'sluice_http_body_refusals_total',
    'Request bodies refused for lack of memory: that of their subscription, or in all.',
    Object.entries(budget.refusals).map(([scope, value]) => ({ labels: { scope }, value })),
  ),
];
