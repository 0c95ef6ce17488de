/** Admission within one process: a gate per subscription and model, dropped when idle. */
import { Observable, type Subscriber, throwError } from 'rxjs';
import type { Admission, AdmissionRequest, Lease, LeaseUsage, RateWindow } from '../../ports/admission.ts';
import { IdleSweep } from '../idle-sweep.ts';
import { AdmissionCounters } from './admission-counters.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { Gate, type GateContext, type Waiter } from './gate.ts';
import { type Rules, usualRules } from './rules.ts';

interface LocalAdmissionOptions extends Partial<Rules> {
  readonly clock?: Clock;
}

export interface LocalAdmission extends Admission {
  /** Counts a start here that was decided elsewhere. */
  adopt(request: AdmissionRequest): Lease;
  /** Where starts count, and how many; with the limits of the last that was decided elsewhere, or 0. */
  starts(): { readonly request: AdmissionRequest; readonly count: number }[];
  /** Gates in memory. */
  gates(): number;
}

export const createLocalAdmission = (options: LocalAdmissionOptions = {}): LocalAdmission => {
  const { clock = monotonicClock, ...rules } = options;
  const gates = new Gates();
  const counters = new AdmissionCounters();
  const shared: GateContext = { rules: { ...usualRules, ...rules }, counters, now: () => clock.now() };
  const idle = new IdleSweep(clock, gates);

  const admit = (request: AdmissionRequest): Lease | Observable<Lease> => {
    const gate = gateOf(request);
    const now = clock.now();
    const verdict = gate.enter(request.limits, now);
    if (verdict === 'started') return grant(gate, now);
    return verdict === 'wait'
      ? new Observable((subscriber) => queue(request, subscriber))
      : throwError(() => verdict);
  };

  /** Decides again: the waiters ahead may have left since. */
  const queue = (request: AdmissionRequest, subscriber: Subscriber<Lease>): (() => void) | undefined => {
    const gate = gateOf(request);
    const now = clock.now();
    const verdict = gate.enter(request.limits, now);
    if (verdict === 'wait') {
      if (counters.waiting < shared.rules.waiting) return wait(gate, subscriber);
      subscriber.error(gate.tooBusy());
    } else if (verdict === 'started') give(subscriber, grant(gate, now));
    else subscriber.error(verdict);
    return undefined;
  };

  const wait = (gate: Gate, subscriber: Subscriber<Lease>): (() => void) => {
    const arrived = clock.now();
    const position = gate.waiting + 1;
    const waiter: Waiter = {
      admitted: () => give(subscriber, grantLate(gate, arrived, position)),
      refused: (error) => subscriber.error(error),
    };
    gate.join(waiter);
    counters.waiting++;
    const cancelTimer = clock.after(shared.rules.queueMs, () => {
      gate.leave(waiter);
      subscriber.error(gate.tooLate());
    });
    // Runs however the wait ends: admitted, refused or cancelled.
    return () => {
      cancelTimer();
      gate.leave(waiter);
      counters.waiting--;
    };
  };

  const grant = (gate: Gate, now: number): Lease => {
    counters.admitted++;
    return new Slot(gate, shared, now, 0, undefined);
  };

  const grantLate = (gate: Gate, arrived: number, position: number): Lease => {
    const now = clock.now();
    counters.admitted++;
    counters.waited++;
    counters.waitedMs += now - arrived;
    return new Slot(gate, shared, now, now - arrived, position);
  };

  const gateOf = ({ subscription, model, limits }: AdmissionRequest): Gate => {
    const known = gates.get(model, subscription);
    if (known !== undefined) return known;
    const gate = new Gate(model, limits, shared);
    gates.set(model, subscription, gate);
    idle.begin();
    return gate;
  };

  return {
    admit,
    adopt: (request) => {
      const gate = gateOf(request);
      const now = clock.now();
      gate.adopt(request.limits, now);
      return new Slot(gate, shared, now, 0, undefined);
    },
    starts: () => {
      const now = clock.now();
      const unknown = { concurrency: 0, requests_per_minute: 0 };
      return [...gates.all()].flatMap(({ model, subscription, gate }) => {
        const count = gate.starts(now);
        const limits = gate.adoptedBy ?? unknown;
        return count === 0 ? [] : [{ request: { subscription, model, limits }, count }];
      });
    },
    gates: () => gates.size,
    stats: () => counters.stats({ shared: false, replicas: 1, established: true }),
    check: () => Promise.resolve(),
    close: async () => idle.close(),
  };
};

const give = (subscriber: Subscriber<Lease>, lease: Lease): void => {
  subscriber.next(lease);
  subscriber.complete();
};

interface NamedGate {
  readonly model: string;
  readonly subscription: string;
  readonly gate: Gate;
}

/** Two nested maps: joining both names into one key was nearly half of the time of a decision. */
class Gates {
  readonly #byModel = new Map<string, Map<string, Gate>>();
  size = 0;

  get(model: string, subscription: string): Gate | undefined {
    return this.#byModel.get(model)?.get(subscription);
  }

  /** Where there is none yet. */
  set(model: string, subscription: string, gate: Gate): void {
    const ofModel = this.#byModel.get(model) ?? new Map<string, Gate>();
    this.#byModel.set(model, ofModel.set(subscription, gate));
    this.size++;
  }

  removeIdle({ model, subscription, gate }: NamedGate, now: number): void {
    if (!gate.idleAt(now)) return;
    const ofModel = this.#byModel.get(model);
    if (ofModel?.delete(subscription) !== true) return;
    if (ofModel.size === 0) this.#byModel.delete(model);
    this.size--;
  }

  /** Stays valid while gates are added and removed. */
  *all(): Generator<NamedGate, undefined> {
    for (const [model, ofModel] of this.#byModel)
      for (const [subscription, gate] of ofModel) yield { model, subscription, gate };
  }
}

/** A slot at a gate, released once. */
class Slot implements Lease {
  readonly waited: number;
  declare readonly position?: number;
  readonly #gate: Gate;
  readonly #shared: GateContext;
  readonly #since: number;
  readonly #limit: number;
  readonly #remaining: number;
  #held = true;

  constructor(gate: Gate, shared: GateContext, since: number, waited: number, position: number | undefined) {
    this.waited = waited;
    if (position !== undefined) this.position = position;
    this.#gate = gate;
    this.#shared = shared;
    this.#since = since;
    this.#limit = gate.limit;
    this.#remaining = gate.remaining;
    shared.counters.running++;
  }

  get window(): RateWindow {
    return {
      limit: this.#limit,
      remaining: this.#remaining,
      resetAt: this.#since + this.#shared.rules.windowMs,
    };
  }

  release(usage?: LeaseUsage): void {
    if (!this.#held) return;
    this.#held = false;
    const now = this.#shared.now();
    this.#gate.finish(now - this.#since, now, usage);
  }
}
