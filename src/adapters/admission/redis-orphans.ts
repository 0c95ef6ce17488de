/** Slots and places in, that Redis may still hold though nobody here does; those to give back, once it can be told, out. */
import type { AdmissionRequest } from '../../ports/admission.ts';
import type { Clock } from './clock.ts';

export interface Orphan {
  readonly id: string;
  readonly request: AdmissionRequest;
  readonly heldMs: number;
}

export class Orphans {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #left = new Map<string, Orphan & { readonly until: number }>();

  constructor(ttlMs: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  add(orphan: Orphan): void {
    this.#left.set(orphan.id, { ...orphan, until: this.#clock.now() + this.#ttlMs });
  }

  /** Those whose time is over are gone by themselves. */
  takeAll(): readonly Orphan[] {
    const now = this.#clock.now();
    const all = [...this.#left.values()].filter(({ until }) => now < until);
    this.#left.clear();
    return all;
  }
}
