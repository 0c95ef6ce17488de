/** Chooses the replica with the fewest calls in flight for its weight; equals in turn. */
import type { Replica } from '../replica.ts';
import type { Policy, PolicyStats, RoutedCall } from './policy.ts';

const noStats: PolicyStats = { promptBlocks: 0, cachedBlocks: 0 };

export class LeastBusy implements Policy {
  /** Virtual time: the share that was due to everyone so far. */
  #clock = 0;

  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica {
    call.uncached = 0;
    let best: Replica | undefined;
    let load = 0;
    let due = 0;
    for (const replica of candidates) {
      const { share } = replica;
      const itsLoad = replica.busy / share.weightAt(now);
      // What was not called for a while is not owed the calls it missed.
      const itsDue = Math.max(this.#clock, share.served);
      if (best !== undefined && (itsLoad > load || (itsLoad === load && itsDue >= due))) continue;
      best = replica;
      load = itsLoad;
      due = itsDue;
    }
    if (best === undefined) throw new Error('There is no replica to choose from');
    this.#clock = due;
    best.share.served = due + 1 / best.share.weightAt(now);
    return best;
  }

  forget(): void {
    // Knows nothing of a replica.
  }

  stats(): PolicyStats {
    return noStats;
  }
}
