/** Claims that are checked, taken and settled on the counters of this process. */
import { type Claim, Exhausted, type Reservation } from '../../ports/allowances.ts';
import type { Counter } from './counters.ts';

/** Throws when one of them does not fit. */
export const ensureRoom = (claims: readonly Claim[], counters: readonly Counter[], now: number): void => {
  for (let index = 0; index < claims.length; index++) {
    const claim = claims[index] as Claim;
    const counter = counters[index] as Counter;
    const { limit } = claim.allowance;
    // Two claims on one allowance add up.
    let needed = claim.amount;
    for (let before = 0; before < index; before++)
      if (counters[before] === counter) needed += claims[before]?.amount ?? 0;
    const used = counter.used(now);
    if (used + needed <= limit || claim.amount === 0) continue;
    const wait = needed > limit ? undefined : counter.waitFor(limit - needed, now);
    throw new Exhausted(claim, Math.max(0, limit - used), wait);
  }
};

/** Claims that were taken, all or none, and are settled once. */
export class LocalReservation implements Reservation {
  readonly claims: readonly Claim[];
  readonly #counters: readonly Counter[];
  readonly #taken: number[] = [];
  readonly #at: number;
  #settled = false;
  declare onSettled?: () => void;

  constructor(claims: readonly Claim[], counters: readonly Counter[], now: number) {
    this.claims = claims;
    this.#counters = counters;
    this.#at = now;
    for (let index = 0; index < claims.length; index++)
      this.#taken.push(counters[index]?.take(claims[index]?.amount ?? 0, now) ?? 0);
  }

  left(index: number): number | undefined {
    const limit = this.claims[index]?.allowance.limit ?? 0;
    const used = this.#counters[index]?.used(this.#at);
    return used === undefined ? undefined : Math.max(0, limit - used);
  }

  settle(used: readonly number[]): void {
    if (this.#settled) return;
    this.#settled = true;
    for (let index = 0; index < this.#taken.length; index++) {
      const { amount } = this.claims[index] as Claim;
      this.#counters[index]?.settle(this.#taken[index] ?? 0, amount, used[index] ?? amount);
    }
    this.onSettled?.();
  }
}
