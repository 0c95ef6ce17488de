/** Chooses the replica that has the least left to do before a prompt: what it runs, and what it has not cached. */
import type { Replica } from '../replica.ts';
import { LeastBusy } from './least-busy.ts';
import { isOverloaded, loadOf, type Policy, type PolicyStats, type RoutedCall } from './policy.ts';
import { PromptBlocks } from './prompt-blocks.ts';
import { SeenBlocks, SLOTS } from './seen-blocks.ts';
import { rendezvous } from './text-hash.ts';

/** Prompts with fewer blocks are quickly computed anywhere. */
const FEWEST_BLOCKS = 2;
/** Blocks that could be computed in the time that one running call costs others. */
const BUSY_BLOCKS = 1;
/** Blocks that replicas may differ by and still count as equal. */
const TIE_BLOCKS = 4;

/** Of all engines: a choice is made synchronously. */
let shared: PromptBlocks | undefined;

export class PrefixAffinity implements Policy {
  /** For calls without a prompt, or a short one. */
  readonly #others = new LeastBusy();
  readonly #capacity: number | undefined;
  #seen: SeenBlocks | undefined;
  /** Replicas of each slot. */
  readonly #users = new Int32Array(SLOTS);
  #promptBlocks = 0;
  #cachedBlocks = 0;

  constructor(capacity?: number) {
    this.#capacity = capacity;
  }

  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica {
    const { model = '', prompt } = call;
    shared ??= new PromptBlocks();
    const blocks = shared;
    if (prompt === undefined || !blocks.read(model, prompt, FEWEST_BLOCKS))
      return this.#others.choose(candidates, call, now);
    this.#seen ??= new SeenBlocks(this.#capacity);
    const seen = this.#seen;
    let slots = 0;
    for (const replica of candidates) slots |= 1 << this.#slotOf(replica);
    seen.match(blocks, slots);
    const least = this.#leastCost(candidates, blocks.count, seen.depths, now);
    const chosen = preferred(candidates, least + TIE_BLOCKS, blocks.key, now);
    const slot = this.#slotOf(chosen);
    const cached = seen.depths[slot] as number;
    seen.add(blocks, slot);
    this.#promptBlocks += blocks.count;
    this.#cachedBlocks += cached;
    call.uncached = blocks.count - cached;
    return chosen;
  }

  forget({ share }: Replica): void {
    if (share.slot < 0) return;
    this.#seen?.forget(share.slot);
    this.#users[share.slot] = (this.#users[share.slot] as number) - 1;
    share.slot = -1;
  }

  stats(): PolicyStats {
    return { promptBlocks: this.#promptBlocks, cachedBlocks: this.#cachedBlocks };
  }

  /** Sets the cost of each. */
  #leastCost(candidates: readonly Replica[], count: number, depths: Int32Array, now: number): number {
    const load = loadOf(candidates, now);
    let least = Number.POSITIVE_INFINITY;
    for (const replica of candidates) {
      const { share } = replica;
      const weight = share.weightAt(now);
      const uncached = count - (depths[this.#slotOf(replica)] as number);
      share.cost = isOverloaded(replica, weight, load, candidates.length)
        ? Number.POSITIVE_INFINITY
        : uncached + (share.prefill + BUSY_BLOCKS * replica.busy) / weight;
      if (share.cost < least) least = share.cost;
    }
    return least;
  }

  /** The least used one, where it has none yet. */
  #slotOf({ share }: Replica): number {
    if (share.slot >= 0) return share.slot;
    let slot = 0;
    for (let other = 1; other < SLOTS; other++)
      if ((this.#users[other] as number) < (this.#users[slot] as number)) slot = other;
    this.#users[slot] = (this.#users[slot] as number) + 1;
    share.slot = slot;
    return slot;
  }
}

/** Among equals, the one that every gateway chooses for this conversation. */
const preferred = (candidates: readonly Replica[], most: number, key: number, now: number): Replica => {
  let best: Replica | undefined;
  let score = 0;
  for (const replica of candidates) {
    const { share } = replica;
    if (share.cost > most) continue;
    const its = rendezvous(key, share.seed, share.weightAt(now));
    if (best !== undefined && its <= score) continue;
    best = replica;
    score = its;
  }
  if (best === undefined) throw new Error('There is no replica to choose from');
  return best;
};
