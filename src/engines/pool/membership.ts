/** Compares the replicas of a pool with those that it should have. */
import type { ReplicaRow } from '../../../schemas/engines.ts';
import type { Replica } from './replica.ts';

/** Known replicas stay as they are, with their connections, load and circuit. */
export const replicasFor = (
  rows: readonly ReplicaRow[],
  known: readonly Replica[],
  create: (url: string, seed: string) => Replica,
): readonly Replica[] => {
  const free = [...known];
  const repeats = new Map<string, number>();
  return rows.map((row) => {
    const { url, weight = 1 } = typeof row === 'string' ? { url: row } : row;
    const repeat = repeats.get(url) ?? 0;
    repeats.set(url, repeat + 1);
    const index = free.findIndex((replica) => replica.url === url);
    const replica =
      free.splice(index, index < 0 ? 0 : 1)[0] ??
      // Two replicas at one address differ.
      create(url, repeat === 0 ? url : `${url} ${repeat}`);
    replica.share.weight = weight;
    return replica;
  });
};
