/** Keeps the calls of a session on one replica, as long as that one is not overloaded. */
import type { Replica } from '../replica.ts';
import { LeastBusy } from './least-busy.ts';
import { isOverloaded, loadOf, type Policy, type PolicyStats, type RoutedCall } from './policy.ts';
import { rendezvous, textHash } from './text-hash.ts';

export class SessionAffinity implements Policy {
  /** For calls without a session. */
  readonly #others = new LeastBusy();

  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica {
    if (call.session === undefined) return this.#others.choose(candidates, call, now);
    call.uncached = 0;
    const key = textHash(call.session, 0);
    const load = loadOf(candidates, now);
    let best: Replica | undefined;
    let score = 0;
    for (const replica of candidates) {
      const weight = replica.share.weightAt(now);
      if (isOverloaded(replica, weight, load, candidates.length)) continue;
      const its = rendezvous(key, replica.share.seed, weight);
      if (best !== undefined && its <= score) continue;
      best = replica;
      score = its;
    }
    return best ?? this.#others.choose(candidates, call, now);
  }

  forget(): void {
    // Knows nothing of a replica.
  }

  stats(): PolicyStats {
    return this.#others.stats();
  }
}
