/** The reference model of allowances: a plain list of all that was ever reserved. */
import type { Claim } from '../../src/ports/allowances.ts';

interface Entry {
  readonly id: string;
  readonly claim: Claim;
  readonly at: number;
  used: number | undefined;
}

export interface Refusal {
  readonly name: string;
  readonly left: number;
  readonly retryMs: number | undefined;
}

export class ModelAllowances {
  readonly #entries: Entry[] = [];

  /** Ids that are not settled. */
  get open(): readonly string[] {
    const open = this.#entries.filter(({ used }) => used === undefined).map(({ id }) => id);
    return [...new Set(open)];
  }

  amounts(id: string): readonly number[] {
    return this.#entries.filter((entry) => entry.id === id).map(({ claim }) => claim.amount);
  }

  used(name: string, now: number): number {
    return this.#counting(name, now).reduce((sum, { claim, used }) => sum + (used ?? claim.amount), 0);
  }

  reserved(name: string, now: number): number {
    const open = this.#counting(name, now).filter(({ used }) => used === undefined);
    return open.reduce((sum, { claim }) => sum + claim.amount, 0);
  }

  reserve(id: string, claims: readonly Claim[], now: number): Refusal | undefined {
    for (const claim of claims) {
      const { name, limit } = claim.allowance;
      if (claim.amount === 0 || this.used(name, now) + claim.amount <= limit) continue;
      const left = Math.max(0, limit - this.used(name, now));
      return { name, left, retryMs: this.#retryMs(claim, now) };
    }
    for (const claim of claims) this.#entries.push({ id, claim, at: now, used: undefined });
    return undefined;
  }

  settle(id: string, used: readonly number[]): void {
    const entries = this.#entries.filter((entry) => entry.id === id && entry.used === undefined);
    for (const [index, entry] of entries.entries()) entry.used = used[index] ?? entry.claim.amount;
  }

  #counting(name: string, now: number): Entry[] {
    return this.#entries.filter(({ claim: { allowance }, at, used }) => {
      if (allowance.name !== name) return false;
      if (allowance.span.kind === 'held') return used === undefined;
      return allowance.span.kind === 'period' || at + allowance.span.ms > now;
    });
  }

  #retryMs({ allowance: { name, limit, span }, amount }: Claim, now: number): number | undefined {
    if (amount > limit || span.kind === 'held') return undefined;
    if (span.kind === 'period') return span.end === undefined ? undefined : Math.max(0, span.end - now);
    const ends = this.#counting(name, now).map(({ at }) => at + span.ms);
    ends.sort((one, other) => one - other);
    const fits = ends.find((end) => this.used(name, end) + amount <= limit);
    return fits === undefined ? undefined : fits - now;
  }
}
