/** Replicas as each gateway process sees them: its slots on each, its choice among them, its queue. */
import { rowDefaults } from '../../src/engines/effective-row.ts';
import type { Dispatch } from '../../src/engines/pool/dispatch.ts';
import { LeastBusy } from '../../src/engines/pool/policies/least-busy.ts';
import type { RoutedCall } from '../../src/engines/pool/policies/policy.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import { breakerRules } from '../../src/engines/pool/rules.ts';
import { FairQueue } from '../../src/helpers/fair-queue.ts';
import type { Plan } from './plan.ts';
import type { Subscription } from './population.ts';
import type { Request } from './request.ts';

const breaker = breakerRules();
const noDispatch = {} as Dispatch;
const call: RoutedCall = { tried: [], model: undefined, prompt: undefined, session: undefined, uncached: 0 };

/** The replicas of one model, for one process. */
export class Pool {
  readonly #replicas: readonly Replica[];
  readonly #policy = new LeastBusy();
  readonly #slots: number;
  readonly #candidates: Replica[] = [];
  readonly queue = new FairQueue<Request>(rowDefaults.queue.length);

  constructor(replicas: number, slots: number) {
    this.#replicas = Array.from(
      { length: replicas },
      (_, index) => new Replica(`http://${index}`, noDispatch, { breaker }),
    );
    this.#slots = slots;
  }

  /** False: all are full. */
  start(request: Request, now: number): boolean {
    const candidates = this.#candidates;
    candidates.length = 0;
    for (const replica of this.#replicas) if (replica.canTake(now, this.#slots)) candidates.push(replica);
    if (candidates.length === 0) return false;
    const replica = this.#policy.choose(candidates, call, now);
    replica.busy++;
    request.replica = replica;
    return true;
  }

  /** Returns the next in the queue, started. */
  end(request: Request, now: number): Request | undefined {
    if (request.replica !== undefined) request.replica.busy--;
    request.replica = undefined;
    const next = this.queue.first();
    if (next === undefined || !this.start(next, now)) return undefined;
    this.queue.dequeue(next);
    return next;
  }
}

/** Streams that the limits let run, of each model. */
export const expectedStreams = (plan: Plan, subscriptions: readonly Subscription[]): number[] => {
  const seconds = plan.tokens / plan.tokensPerSecond;
  const streams = new Array<number>(plan.models).fill(0);
  for (const { rate, limits, model } of subscriptions) {
    const started = Math.min(rate, limits.requests_per_minute / 60);
    streams[model] = (streams[model] ?? 0) + Math.min(started * seconds, limits.concurrency);
  }
  return streams;
};

/** By model: replicas that each group needs. */
export const replicasOf = (plan: Plan, subscriptions: readonly Subscription[]): number[] =>
  expectedStreams(plan, subscriptions).map((streams) =>
    Math.max(1, Math.ceil(streams / plan.groups / plan.engineLoad / plan.replicaSlots)),
  );

/** Calls that one process may have on a replica: all of a group together fill it. */
export const slotsOf = ({ replicaSlots, gateways, groups, processes }: Plan): number =>
  Math.floor(replicaSlots / ((gateways / groups) * processes));
