/** Limits retries to a share of recent calls, so that a pool in trouble is not given even more work. */
import type { RetryRules } from './rules.ts';

/** The window, in as many slots; both in milliseconds. */
export const budgetWindowMs = 10_000;
const slotMs = 1000;
const slots = budgetWindowMs / slotMs;

export class RetryBudget {
  readonly #rules: Pick<RetryRules, 'budget' | 'budgetMin'>;
  readonly #calls = new Uint32Array(slots);
  readonly #retries = new Uint32Array(slots);
  #callsInWindow = 0;
  #retriesInWindow = 0;
  /** Number of the slot that is counted in now. */
  #slot = 0;
  /** Retries that were made, and that were not for want of budget; since the start. */
  made = 0;
  refused = 0;

  constructor(rules: Pick<RetryRules, 'budget' | 'budgetMin'>) {
    this.#rules = rules;
  }

  /** A call that is not a retry. `now` only goes forward. */
  called(now: number): void {
    this.#advance(now);
    const at = this.#slot % slots;
    this.#calls[at] = (this.#calls[at] ?? 0) + 1;
    this.#callsInWindow++;
  }

  /** False: the retry may not be made. */
  allows(now: number): boolean {
    this.#advance(now);
    const { budget, budgetMin } = this.#rules;
    if (this.#retriesInWindow >= Math.max(budgetMin, budget * this.#callsInWindow)) {
      this.refused++;
      return false;
    }
    const at = this.#slot % slots;
    this.#retries[at] = (this.#retries[at] ?? 0) + 1;
    this.#retriesInWindow++;
    this.made++;
    return true;
  }

  #advance(now: number): void {
    const slot = Math.floor(now / slotMs);
    if (slot === this.#slot) return;
    const passed = Math.min(slot - this.#slot, slots);
    for (let step = 1; step <= passed; step++) {
      const at = (this.#slot + step) % slots;
      this.#callsInWindow -= this.#calls[at] ?? 0;
      this.#retriesInWindow -= this.#retries[at] ?? 0;
      this.#calls[at] = 0;
      this.#retries[at] = 0;
    }
    this.#slot = slot;
  }
}
