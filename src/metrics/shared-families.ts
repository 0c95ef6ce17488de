/** Metric families of the workers that subscriptions share: threads, processes, fetches. */
import type { ResourceStats } from '../ports/shared.ts';
import { counter, gauge, type MetricFamily, type Sample } from './exposition.ts';

export const sharedFamilies = (
  resources: Readonly<Record<string, ResourceStats>>,
): readonly MetricFamily[] => {
  const each = (value: (stats: ResourceStats) => number): readonly Sample[] =>
    Object.entries(resources).map(([resource, stats]) => ({ labels: { resource }, value: value(stats) }));
  return [
    gauge(
      'sluice_shared_running',
      'Tasks that run on workers shared by all subscriptions, by resource.',
      each(({ running }) => running),
    ),
    gauge(
      'sluice_shared_waiting',
      'Tasks that wait for such a worker.',
      each(({ waiting }) => waiting),
    ),
    counter(
      'sluice_shared_refused_total',
      'Tasks that were refused because their queue was full or the wait too long.',
      each(({ refused }) => refused),
    ),
  ];
};
