/** The periods that this process claims: what it last knew of them, and what it may use of them in an outage. */
import type { Allowance, Claim } from '../../ports/allowances.ts';
import type { RedisCounters } from './redis-counters.ts';
import type { Sums } from './redis-words.ts';

interface KnownPeriod {
  allowance: Allowance;
  /** The most that was ever seen; it never falls. */
  settled: number;
  used: number;
  share: number;
  claimedAt: number;
}

/** All processes together may hold so much of a limit for outages, while less than nine tenths of it are used. */
const sharedPart = 0.02;
const mostUsed = 0.9;
/** Milliseconds without a claim after which a share is given back, and a period forgotten. */
const shareMs = 60_000;
const knownMs = 600_000;
/** Calls to Redis at a time. */
const atOnce = 100;

export class Periods {
  readonly #known = new Map<string, KnownPeriod>();

  /** After a decision or a settlement. */
  seen(claims: readonly Claim[], sums: Sums, now: number): void {
    let place = 0;
    for (const { allowance } of claims) {
      if (allowance.span.kind !== 'period') continue;
      const settled = sums[place] ?? 0;
      const used = sums[place + 1] ?? 0;
      place += 2;
      const known = this.#known.get(allowance.name);
      if (known === undefined) {
        if (sums.length > 0)
          this.#known.set(allowance.name, { allowance, settled, used, share: 0, claimedAt: now });
        continue;
      }
      known.allowance = allowance;
      known.claimedAt = now;
      if (place > sums.length) continue;
      known.settled = Math.max(known.settled, settled);
      known.used = used;
    }
  }

  shareOf(name: string): number {
    return this.#known.get(name)?.share ?? 0;
  }

  /** Redis may have lost what was settled: together processes have seen all of it. */
  async raise(counters: RedisCounters): Promise<void> {
    await inTurns([...this.#known.values()], ({ allowance, settled }) => counters.raise(allowance, settled));
  }

  async renewShares(counters: RedisCounters, replicas: number, now: number): Promise<void> {
    const changed = [...this.#known.values()].filter(
      (known) => wantedShare(known, replicas, now) !== known.share,
    );
    await inTurns(changed, async (known) => {
      const wanted = wantedShare(known, replicas, now);
      // Before it is sent: what Redis may have given to others is not used here any more, should the reply be lost.
      known.share = Math.min(known.share, wanted);
      known.share = await counters.share(known.allowance, wanted);
    });
    for (const [name, { claimedAt, share }] of this.#known)
      if (share === 0 && now - claimedAt > knownMs) this.#known.delete(name);
  }
}

const wantedShare = (
  { allowance: { limit }, used, claimedAt }: KnownPeriod,
  replicas: number,
  now: number,
): number =>
  now - claimedAt > shareMs || used > limit * mostUsed ? 0 : Math.floor((limit * sharedPart) / replicas);

export const inTurns = async <T>(all: readonly T[], work: (each: T) => Promise<unknown>): Promise<void> => {
  for (let start = 0; start < all.length; start += atOnce)
    await Promise.all(all.slice(start, start + atOnce).map(work));
};
