/** A replica's share of its engine's calls: its weight, slow start, and what policies count for it. */
import { textHash } from './policies/text-hash.ts';

/** Of its weight, when it has just come. */
const SMALLEST_START = 0.1;

export class Share {
  /** The same in every gateway, whatever the order of its list. */
  readonly seed: number;
  /** As configured: calls are distributed in proportion to it. */
  weight = 1;
  /** Prompt blocks that calls on it have still to compute, as far as a policy estimates them. */
  prefill = 0;
  /** Prompt blocks of its calls that were routed by prefix, and those that it had seen before. */
  promptBlocks = 0;
  cachedBlocks = 0;
  /** Virtual time up to which it has had its share of calls. */
  served = 0;
  /** Its bit in a table of prompt blocks; -1: none yet. */
  slot = -1;
  /** Of the choice that is being made. */
  cost = 0;
  #startedAt = 0;
  #fullAt = 0;

  constructor(name: string) {
    this.seed = textHash(name, 0);
  }

  /** Its weight grows to the configured one in this time. */
  startSlowly(now: number, slowStartMs: number): void {
    this.#startedAt = now;
    this.#fullAt = now + slowStartMs;
  }

  weightAt(now: number): number {
    if (now >= this.#fullAt) return this.weight;
    const part = (now - this.#startedAt) / (this.#fullAt - this.#startedAt);
    return this.weight * Math.max(SMALLEST_START, part);
  }
}
