/** Compares the replicas of a pool with those that it should have. */
import type { Replica } from './replica.ts';

export interface ReplicaAddress {
  readonly url: string;
  readonly weight?: number;
  /** The name that it is called by, in requests and in its certificate; that of the address unless given. */
  readonly host?: string;
}

/** Known replicas stay as they are, with their connections, load and circuit. */
export const replicasFor = (
  addresses: readonly ReplicaAddress[],
  known: readonly Replica[],
  create: (address: ReplicaAddress, seed: string) => Replica,
): readonly Replica[] => {
  const free = [...known];
  const repeats = new Map<string, number>();
  return addresses.map((address) => {
    const { url, weight = 1 } = address;
    const repeat = repeats.get(url) ?? 0;
    repeats.set(url, repeat + 1);
    const index = free.findIndex((replica) => replica.url === url);
    const replica =
      free.splice(index, index < 0 ? 0 : 1)[0] ??
      // Two replicas at one address differ.
      create(address, repeat === 0 ? url : `${url} ${repeat}`);
    replica.share.weight = weight;
    return replica;
  });
};
