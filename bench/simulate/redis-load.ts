/** What the fleet asks of the primaries of Redis: decisions, releases, renewals of leases, heartbeats. */
import { partitions } from '../../src/adapters/redis-partitions.ts';
import type { Plan } from './plan.ts';
import { primaryOf, type Subscription } from './population.ts';
import { Server } from './server.ts';

export class RedisLoad {
  readonly #coefficients: Plan['coefficients'];
  readonly #primaries: readonly Server[];
  /** By partition: leases of all processes. */
  readonly #leases = new Uint32Array(partitions.length);
  /** By partition: subscriptions of which a process holds a lease, on average. */
  readonly #gatesHeld = new Float64Array(partitions.length);

  constructor(plan: Plan, subscriptions: readonly Subscription[]) {
    this.#coefficients = plan.coefficients;
    this.#primaries = Array.from({ length: plan.primaries }, () => new Server());
    const processes = plan.gateways * plan.processes;
    for (const { partition, rate } of subscriptions) {
      const each = (rate * plan.tokens) / plan.tokensPerSecond / processes;
      this.#gatesHeld[partition] = (this.#gatesHeld[partition] ?? 0) + 1 - Math.exp(-each);
    }
  }

  /** Milliseconds at which a decision is made that is asked for at `now`. */
  decide({ primary }: Subscription, now: number): number {
    const { decision, commandUs } = this.#coefficients;
    return this.#serve(primary, now, decision * commandUs);
  }

  release({ primary }: Subscription, now: number): number {
    const { release, commandUs } = this.#coefficients;
    return this.#serve(primary, now, release * commandUs);
  }

  leaseBegins({ partition }: Subscription): void {
    this.#leases[partition] = (this.#leases[partition] ?? 0) + 1;
  }

  leaseEnds({ partition }: Subscription): void {
    this.#leases[partition] = (this.#leases[partition] ?? 0) - 1;
  }

  /** One of so many processes renews its leases and sends its heartbeats, partition by partition. */
  renew(processes: number, now: number): void {
    const { commandUs, renewedLease, renewedGate, heartbeat } = this.#coefficients;
    for (const partition of partitions) {
      const leases = (this.#leases[partition] ?? 0) / processes;
      // A process rarely has none, or two, of a small subscription.
      const gates = Math.min(leases, this.#gatesHeld[partition] ?? 0);
      const commands = heartbeat + gates * renewedGate + leases * renewedLease;
      this.#serve(primaryOf(partition, this.#primaries.length), now, commands * commandUs);
    }
  }

  /** By primary: seconds of work so far. */
  get work(): readonly number[] {
    return this.#primaries.map(({ work }) => work / 1e6);
  }

  get calls(): number {
    return this.#primaries.reduce((sum, { calls }) => sum + calls, 0);
  }

  #serve(primary: number, now: number, microseconds: number): number {
    return (this.#primaries[primary] as Server).serve(now, microseconds);
  }
}
