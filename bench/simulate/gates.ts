/** Limits as the product decides them: gates in Redis, and gates of each process while Redis is unavailable. */
import { AdmissionCounters } from '../../src/adapters/admission/admission-counters.ts';
import { Gate, type GateContext } from '../../src/adapters/admission/gate.ts';
import { usualRules } from '../../src/adapters/admission/rules.ts';
import { windowPortion } from '../../src/adapters/admission/window-portion.ts';
import type { Subscription } from './population.ts';
import type { Request } from './request.ts';
import type { StartLog } from './start-log.ts';

/** As the product sets it: a heartbeat's lease, and twice its patience. */
const noticeMs = 14_000;

export class Gates {
  readonly rules = usualRules;
  readonly counters = new AdmissionCounters();
  readonly #context: GateContext = { rules: usualRules, counters: this.counters, now: () => this.#now };
  readonly #shared: Gate[];
  #now = 0;
  #outage: Outage | undefined;

  constructor(subscriptions: readonly Subscription[]) {
    this.#shared = subscriptions.map(({ limits }) => new Gate('model', limits, this.#context));
  }

  get isOutage(): boolean {
    return this.#outage !== undefined;
  }

  /** Gates read the time while they decide. */
  setTime(now: number): void {
    this.#now = now;
  }

  get time(): number {
    return this.#now;
  }

  shared({ index }: Subscription): Gate {
    const gate = this.#shared[index];
    if (gate === undefined) throw new Error('There is no such gate');
    return gate;
  }

  /** Undefined: this process has no portion of the limit. */
  enterLocal(
    { owner, process }: Request,
    now: number,
  ): { gate: Gate; verdict: ReturnType<Gate['enter']> } | undefined {
    const outage = this.#open();
    const gate = outage.gate(owner, process);
    const limits = outage.limits(owner, process, now);
    return limits.requests_per_minute === 0 ? undefined : { gate, verdict: gate.enter(limits, now) };
  }

  /** Redis is unavailable to `processes`, which decide by what it knew of windows until now. */
  beginOutage(now: number, processes: readonly number[], log: StartLog, running: Iterable<Request>): void {
    this.#now = now;
    this.#outage = new Outage({
      now,
      context: this.#context,
      ranks: new Map(processes.map((process, rank) => [process, rank])),
      log,
      running,
      startsOf: (subscription) => this.shared(subscription).starts(now),
    });
  }

  /** Processes report what they started; it counts from now on. */
  endOutage(now: number): void {
    for (const { owner, ended } of this.#open().unreported) {
      const gate = this.shared(owner);
      gate.adopt(owner.limits, now);
      if (ended) gate.finish(0, now, undefined);
    }
    this.#outage = undefined;
  }

  /** Returns what is set once it has ended. */
  startedLocally(owner: Subscription): Unreported {
    const start = { owner, ended: false };
    this.#open().unreported.push(start);
    return start;
  }

  /** During an outage: one that had been started by Redis. Its process counts it too. */
  endedElsewhere(request: Request, now: number): void {
    this.#outage?.ended(request, now);
  }

  #open(): Outage {
    if (this.#outage === undefined) throw new Error('Redis is available');
    return this.#outage;
  }
}

export interface Unreported {
  readonly owner: Subscription;
  ended: boolean;
}

interface OutageOptions {
  readonly now: number;
  readonly context: GateContext;
  readonly ranks: ReadonlyMap<number, number>;
  readonly log: StartLog;
  readonly running: Iterable<Request>;
  startsOf(subscription: Subscription): number;
}

class Outage {
  readonly unreported: Unreported[] = [];
  readonly #options: OutageOptions;
  readonly #gates = new Map<number, { readonly gate: Gate; readonly own: number }>();
  /** Of processes and subscriptions without a gate yet: what runs. */
  readonly #running = new Map<number, number>();
  readonly #most = new Map<number, number>();

  constructor(options: OutageOptions) {
    this.#options = options;
    options.log.sort();
    for (const { owner, process } of options.running) this.#add(options.log.keyOf(owner.index, process), 1);
  }

  gate(subscription: Subscription, process: number): Gate {
    return this.#known(subscription, process).gate;
  }

  /** What a process may have, of the limits that all share. */
  limits(subscription: Subscription, process: number, now: number) {
    const { ranks, now: began, context } = this.#options;
    const { requests_per_minute, concurrency } = subscription.limits;
    const replicas = ranks.size;
    const portion = { replicas, rank: ranks.get(process) ?? replicas, established: true };
    return {
      concurrency: Math.max(1, Math.floor(concurrency / replicas)),
      requests_per_minute: windowPortion(portion, {
        limit: requests_per_minute,
        own: this.#known(subscription, process).own,
        most: this.#mostOf(subscription),
        elapsed: now - began,
        windowMs: context.rules.windowMs,
        lateMs: context.rules.queueMs + noticeMs,
      }),
    };
  }

  ended({ owner, process }: Request, now: number): void {
    const key = this.#options.log.keyOf(owner.index, process);
    const known = this.#gates.get(key);
    if (known === undefined) this.#add(key, -1);
    else known.gate.finish(0, now, undefined);
  }

  #add(key: number, count: number): void {
    this.#running.set(key, (this.#running.get(key) ?? 0) + count);
  }

  /** As the process itself has counted: its starts of the last window, and what of them runs. */
  #known(subscription: Subscription, process: number): { readonly gate: Gate; readonly own: number } {
    const { log, context, now } = this.#options;
    const key = log.keyOf(subscription.index, process);
    const known = this.#gates.get(key);
    if (known !== undefined) return known;
    const gate = new Gate('model', subscription.limits, context);
    const times = log.startsOf(subscription.index, process, now - context.rules.windowMs);
    for (const time of times) gate.adopt(subscription.limits, time);
    for (let ended = times.length - (this.#running.get(key) ?? 0); ended > 0; ended--)
      gate.finish(0, now, undefined);
    const opened = { gate, own: times.length };
    this.#gates.set(key, opened);
    return opened;
  }

  /** What processes have heard of a window: in quarters of its limit, and nothing below a half. */
  #mostOf(subscription: Subscription): number {
    const known = this.#most.get(subscription.index);
    if (known !== undefined) return known;
    const limit = subscription.limits.requests_per_minute;
    const count = this.#options.startsOf(subscription);
    const step = Math.ceil(limit / 4);
    const most =
      count * 2 < limit
        ? Math.ceil(limit / 2) - 1
        : Math.min(limit, (Math.floor(count / step) + 1) * step - 1);
    this.#most.set(subscription.index, most);
    return most;
  }
}
