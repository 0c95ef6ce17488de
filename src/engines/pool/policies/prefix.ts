/** Chooses the replica that will have computed a prompt first: by what each has to do, and what it has cached. */
import type { Replica } from '../replica.ts';
import { LeastBusy } from './least-busy.ts';
import { isOverloaded, loadOf, type Policy, type PolicyStats, type RoutedCall } from './policy.ts';
import { PromptBlocks } from './prompt-blocks.ts';
import { SeenBlocks, SLOTS } from './seen-blocks.ts';
import { rendezvous } from './text-hash.ts';

/** Prompts with fewer blocks are quickly computed anywhere. */
const FEWEST_BLOCKS = 2;
/** Blocks that could be computed in the time that one running call costs the others. */
const BUSY_BLOCKS = 1;
/**
 * Costs that differ by so much, and by half of what is to be computed in any case, count as equal where the caches
 * differ little. Among equals every gateway chooses the same replica, which is worth a little time: the next turn of the
 * conversation may come to another gateway.
 */
const TIE_BLOCKS = 2;
const TIE_PART = 0.5;
/** What a cache may lack beside the cheapest's and still count as equal. */
const LACKING_BLOCKS = 2;
/** A long prompt is rather computed once more than waited for: further calls with its start will find it on both. */
const LONG_BLOCKS = 24;

/** Of all engines: a choice is made synchronously. */
let blocksOfPrompt: PromptBlocks | undefined;

export class PrefixAffinity implements Policy {
  /** For calls without a prompt, or with a short one. */
  readonly #others = new LeastBusy();
  readonly #capacity: number | undefined;
  #seen: SeenBlocks | undefined;
  /** Replicas of each slot. */
  readonly #users = new Int32Array(SLOTS);
  #promptBlocks = 0;
  #cachedBlocks = 0;

  /** `capacity`: blocks that are remembered, a power of two. */
  constructor(capacity?: number) {
    this.#capacity = capacity;
  }

  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica {
    const { model = '', prompt } = call;
    blocksOfPrompt ??= new PromptBlocks();
    const blocks = blocksOfPrompt;
    if (prompt === undefined || !blocks.read(model, prompt, FEWEST_BLOCKS))
      return this.#others.choose(candidates, call, now);
    this.#seen ??= new SeenBlocks(this.#capacity);
    const seen = this.#seen;
    let slots = 0;
    for (const replica of candidates) slots |= 1 << this.#slotOf(replica);
    seen.match(blocks, slots);
    const cheapest = cheapestOf(candidates, blocks.count, seen.depths, now);
    const chosen = preferred(candidates, cheapest, blocks, seen.depths, now);
    const { slot } = chosen.share;
    const cached = seen.depths[slot] as number;
    seen.add(blocks, slot);
    this.#promptBlocks += blocks.count;
    this.#cachedBlocks += cached;
    chosen.share.promptBlocks += blocks.count;
    chosen.share.cachedBlocks += cached;
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

/** Sets the cost of each. Of equals, the one with the most in its cache. */
const cheapestOf = (
  candidates: readonly Replica[],
  count: number,
  depths: Int32Array,
  now: number,
): Replica => {
  const load = loadOf(candidates, now);
  const most = mostCached(candidates, depths);
  let cheapest: Replica | undefined;
  let deepest = 0;
  for (const replica of candidates) {
    const { share } = replica;
    const weight = share.weightAt(now);
    if (isOverloaded(replica, weight, load, candidates.length)) {
      share.cost = Number.POSITIVE_INFINITY;
      continue;
    }
    const depth = depths[share.slot] as number;
    // What is computed a second time counts twice: it takes its time, and that of the calls behind it.
    const lost = Math.max(0, most - depth);
    share.cost = count - depth + lost + (share.prefill + BUSY_BLOCKS * replica.busy) / weight;
    const least = cheapest?.share.cost ?? Number.POSITIVE_INFINITY;
    if (share.cost > least || (share.cost === least && depth <= deepest)) continue;
    cheapest = replica;
    deepest = depth;
  }
  if (cheapest === undefined) throw new Error('There is no replica to choose from');
  return cheapest;
};

/** Blocks that a replica has which does not compute a long prompt right now; 0 where there is no such. */
const mostCached = (candidates: readonly Replica[], depths: Int32Array): number => {
  let most = 0;
  let prefill = 0;
  for (const { share } of candidates) {
    const depth = depths[share.slot] as number;
    if (depth < most || (depth === most && share.prefill >= prefill)) continue;
    most = depth;
    prefill = share.prefill;
  }
  return prefill < LONG_BLOCKS ? most : 0;
};

/** Among those that count as equal to the cheapest, the one that every gateway chooses for this conversation. */
const preferred = (
  candidates: readonly Replica[],
  cheapest: Replica,
  blocks: PromptBlocks,
  depths: Int32Array,
  now: number,
): Replica => {
  const depth = depths[cheapest.share.slot] as number;
  const most = cheapest.share.cost + TIE_BLOCKS + TIE_PART * (blocks.count - depth);
  let best = cheapest;
  let score = 0;
  for (const replica of candidates) {
    const { share } = replica;
    const surplus = (depths[share.slot] as number) - depth;
    if (share.cost > most || surplus < -LACKING_BLOCKS || surplus > LONG_BLOCKS) continue;
    const its = rendezvous(blocks.key, share.seed, share.weightAt(now));
    if (its <= score) continue;
    best = replica;
    score = its;
  }
  return best;
};
