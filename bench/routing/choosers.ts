/** Ways to choose a replica that the bench compares with the gateway's own: one that knows the caches, one that hashes. */
import type { Policy, PromptCall, RoutedCall } from '../../src/engines/pool/policies/policy.ts';
import { isOverloaded, loadOf } from '../../src/engines/pool/policies/policy.ts';
import { rendezvous, textHash } from '../../src/engines/pool/policies/text-hash.ts';
import type { Replica } from '../../src/engines/pool/replica.ts';
import type { Hashed, PrefixEngine } from './prefix-engine.ts';

/** The one with the most of the prompt in its cache, the least busy of equals: what no gateway can know. */
export const mostCached = (engines: readonly PrefixEngine[], prompt: Hashed): number =>
  best(engines, (engine) => [engine.cachedOf(prompt), -engine.busy]);

/** The one that will have computed the prompt first. */
export const soonest = (engines: readonly PrefixEngine[], prompt: Hashed): number =>
  best(engines, (engine) => [-engine.delay(prompt), -engine.busy]);

const best = (
  engines: readonly PrefixEngine[],
  scoreOf: (engine: PrefixEngine) => readonly [number, number],
): number => {
  let index = 0;
  let highest: readonly [number, number] = [Number.NEGATIVE_INFINITY, 0];
  engines.forEach((engine, at) => {
    const score = scoreOf(engine);
    if (score[0] < highest[0] || (score[0] === highest[0] && score[1] <= highest[1])) return;
    index = at;
    highest = score;
  });
  return index;
};

/** Hashes the start of a prompt to a replica, with bounded loads: the alternative to remembering what each has seen. */
export class StartHash implements Policy {
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica {
    call.uncached = 0;
    const key = textHash(textOf(call.prompt).slice(0, this.#bytes), 0);
    const load = loadOf(candidates, now);
    let chosen: Replica | undefined;
    let highest = 0;
    for (const replica of candidates) {
      const weight = replica.share.weightAt(now);
      if (isOverloaded(replica, weight, load, candidates.length)) continue;
      const score = rendezvous(key, replica.share.seed, weight);
      if (chosen !== undefined && score <= highest) continue;
      chosen = replica;
      highest = score;
    }
    if (chosen === undefined) throw new Error('There is no replica to choose from');
    return chosen;
  }

  forget(): void {
    // Knows nothing of a replica.
  }

  stats() {
    return { promptBlocks: 0, cachedBlocks: 0 };
  }
}

const textOf = (prompt: PromptCall | undefined): string =>
  prompt !== undefined && 'messages' in prompt
    ? prompt.messages
        .flatMap(({ content }) => content)
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('\n')
    : '';
