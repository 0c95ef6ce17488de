/** Counts refusals and overruns of quotas, and remembers which budgets were used lately. */
import type { LimitKind } from '../../schemas/limits.ts';
import type { NamedClaim } from './claims.ts';

/** Budgets whose use is reported; of more than that, those that were used first are left out. */
const mostBudgets = 1000;

export class QuotaStats {
  readonly #refused = new Map<LimitKind | 'budget', number>();
  /** Names of allowances that were settled since the last look. */
  #touched = new Set<string>();
  #last = '';
  overruns = 0;
  /** Used parts of budgets, by id, as of the last look. */
  readonly ratios = new Map<string, number>();

  refused({ allowance }: NamedClaim): void {
    const kind = 'budget' in allowance ? 'budget' : allowance.kind;
    this.#refused.set(kind, (this.#refused.get(kind) ?? 0) + 1);
  }

  get refusals(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  overrun(): void {
    this.overruns++;
  }

  touch(name: string): void {
    // Mostly the same as before.
    if (name === this.#last || this.#touched.size >= mostBudgets) return;
    this.#last = name;
    this.#touched.add(name);
  }

  takeTouched(): ReadonlySet<string> {
    const touched = this.#touched;
    this.#last = '';
    if (touched.size > 0) this.#touched = new Set();
    return touched;
  }

  setRatio(budget: string, ratio: number): void {
    this.ratios.delete(budget);
    this.ratios.set(budget, ratio);
    if (this.ratios.size <= mostBudgets) return;
    for (const oldest of this.ratios.keys()) {
      this.ratios.delete(oldest);
      return;
    }
  }
}
