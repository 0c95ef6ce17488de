/** Reserves claims of one call that are in several partitions: all or none, with one reservation in each. */
import type { Claim, Reservation } from '../../ports/allowances.ts';
import { byPartition } from '../redis-partitions.ts';
import { partitionOfAllowance } from './redis-counters.ts';
import type { RedisReservation } from './redis-reservation.ts';

/** Only budgets of tags without a subscription are elsewhere than the rest. */
export const partsOf = (claims: readonly Claim[]): readonly [partition: number, readonly Claim[]][] => {
  const [first] = claims;
  const partition = partitionOfAllowance(first?.allowance.name ?? '');
  // Nearly always.
  if (claims.every(({ allowance: { name } }) => partitionOfAllowance(name) === partition))
    return [[partition, claims]];
  return byPartition(claims, ({ allowance: { name } }) => partitionOfAllowance(name));
};

/** At the same time; where one is refused, the others are given back. */
export const reserveAll = async (
  claims: readonly Claim[],
  parts: readonly RedisReservation[],
  decide: (part: RedisReservation) => Promise<void>,
): Promise<Reservation> => {
  const decided = await Promise.allSettled(parts.map(decide));
  const refused = decided.find((each) => each.status === 'rejected');
  if (refused === undefined) return together(claims, parts);
  for (const [index, part] of parts.entries())
    if (decided[index]?.status === 'fulfilled') part.settle(part.claims.map(() => 0));
  throw refused.reason;
};

const together = (claims: readonly Claim[], parts: readonly RedisReservation[]): Reservation => {
  const taken = parts.map(() => 0);
  /** Of each claim: its part, and its place there. */
  const places = claims.map(({ allowance: { name } }) => {
    const partition = partitionOfAllowance(name);
    const index = parts.findIndex((each) => each.partition === partition);
    const place = taken[index] ?? 0;
    taken[index] = place + 1;
    return { part: parts[index], place };
  });
  return {
    left: (index) => {
      const at = places[index];
      return at?.part?.left(at.place);
    },
    settle: (used) => {
      for (const each of parts)
        each.settle(
          claims.flatMap(({ amount }, index) =>
            places[index]?.part === each ? [used[index] ?? amount] : [],
          ),
        );
    },
  };
};
