/** Metric families of what subscriptions share: threads, processes, fetches, the disk. */
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

export const diskFamilies = (disk: {
  readonly freeBytes: number;
  readonly reservedBytes: number;
  readonly refused: number;
}): readonly MetricFamily[] => [
  gauge(
    'sluice_disk_free_bytes',
    'Free bytes on the disk of the data folder, when last looked at.',
    disk.freeBytes,
  ),
  gauge('sluice_disk_reserve_bytes', 'Bytes of it that are kept for usage events.', disk.reservedBytes),
  counter('sluice_disk_refused_total', 'Writes of files and items refused for the reserve.', disk.refused),
];

export const storageFamilies = ({ refused }: { readonly refused: number }): readonly MetricFamily[] => [
  counter('sluice_storage_refused_total', 'Uploads refused because of a storage quota.', refused),
];
