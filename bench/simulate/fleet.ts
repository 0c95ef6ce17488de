/** Runs the fleet in virtual time: arrivals, admission, engine slots, usage events, and failures. */
import type { Gate } from '../../src/adapters/admission/gate.ts';
import { milliseconds } from '../../src/engines/duration.ts';
import { rowDefaults } from '../../src/engines/effective-row.ts';
import { IndexedList } from '../../src/helpers/indexed-list.ts';
import { Random } from '../routing/random.ts';
import { Billing } from './billing.ts';
import { Calendar, tickMs } from './calendar.ts';
import { Pool, replicasOf, slotsOf } from './engines.ts';
import { Gates, type Unreported } from './gates.ts';
import { checkPlan, type Plan } from './plan.ts';
import { createSubscriptions, type Subscription, sampler } from './population.ts';
import { RedisLoad } from './redis-load.ts';
import { Request, type Stages } from './request.ts';
import { Server } from './server.ts';
import { StartLog } from './start-log.ts';
import { type Counts, noCounts, type Outcome, type Second, Timeline } from './timeline.ts';

/** Milliseconds: of admission's leases, between two renewals at most, and of a client before it tries again. */
const [leaseMs, renewalMs, retryMs] = [9_000, 3_000, 1_000];
const engineWaitMs = milliseconds(rowDefaults.queue.wait);

export interface Observer {
  second?(second: Second): void;
  /** Every start, and every end of what was started, with its time. */
  started?(subscription: Subscription, at: number): void;
}

export interface Outcomes {
  readonly counts: Counts;
  /** In the fleet when the time was over. */
  readonly inside: number;
  readonly replicas: number;
  readonly seconds: readonly Second[];
  readonly subscriptions: readonly Subscription[];
}

export const simulate = (plan: Plan, observer: Observer = {}): Outcomes => {
  checkPlan(plan);
  const fleet = new Fleet(plan, observer);
  return fleet.run();
};

class Fleet implements Stages {
  readonly #plan: Plan;
  readonly #observer: Observer;
  readonly #random: Random;
  readonly #calendar = new Calendar();
  readonly #subscriptions: readonly Subscription[];
  readonly #gates: Gates;
  readonly #redis: RedisLoad;
  readonly #cores: readonly Server[];
  /** By process, then by model. */
  readonly #pools: readonly (readonly Pool[])[];
  readonly #replicas: number;
  readonly #billing: Billing;
  readonly #log: StartLog | undefined;
  readonly #counts = noCounts();
  readonly #timeline = new Timeline();
  /** All requests in the fleet, and objects for further ones. */
  readonly #inside = new IndexedList<Request>();
  readonly #spare: Request[] = [];
  readonly #unreported = new Map<Request, Unreported>();
  #live: number[];
  /** Processes below this number have died. */
  #dead = 0;
  /** By process. */
  readonly #streaming: Uint32Array;
  readonly #waiting = { queued: 0, slotless: 0, streaming: 0 };

  constructor(plan: Plan, observer: Observer) {
    this.#plan = plan;
    this.#observer = observer;
    this.#random = new Random(plan.seed);
    this.#subscriptions = createSubscriptions(plan);
    this.#gates = new Gates(this.#subscriptions);
    const processes = plan.gateways * plan.processes;
    this.#live = Array.from({ length: processes }, (_, index) => index);
    this.#streaming = new Uint32Array(processes);
    this.#redis = new RedisLoad(plan, this.#subscriptions);
    this.#cores = this.#live.map(() => new Server());
    const replicas = replicasOf(plan, this.#subscriptions);
    const slots = slotsOf(plan);
    this.#pools = this.#live.map(() => replicas.map((count) => new Pool(count, slots)));
    this.#replicas = plan.groups * replicas.reduce((sum, count) => sum + count, 0);
    this.#billing = new Billing(plan);
    if (plan.failover !== undefined)
      this.#log = new StartLog(
        Math.ceil(plan.requestsPerSecond * 60 * 1.3 + 10_000),
        plan.subscriptions,
        processes,
      );
  }

  run(): Outcomes {
    const { seconds, gatewayDies, failover } = this.#plan;
    this.#arrivals();
    for (const process of this.#live) this.#renewals(process);
    this.#every(100, (now) => this.#billing.tick(now));
    const recovery = failover && failover.at + failover.seconds;
    for (let second = 1; second <= seconds; second++) {
      const begins = (at: number | undefined): at is number =>
        at !== undefined && Math.floor(at) === second - 1;
      if (begins(gatewayDies)) this.#at(gatewayDies * 1000, () => this.#killGateway());
      if (begins(failover?.at)) this.#at(failover.at * 1000, (now) => this.#loseRedis(now));
      if (begins(recovery)) this.#at(recovery * 1000, (now) => this.#regainRedis(now));
      this.#calendar.runUntil(second * 1000);
      const line = this.#timeline.end({
        counts: this.#counts,
        waiting: this.#waiting,
        redis: this.#redis,
        billing: this.#billing,
      });
      this.#observer.second?.(line);
    }
    return {
      counts: this.#counts,
      inside: this.#inside.size,
      replicas: this.#replicas,
      seconds: this.#timeline.seconds,
      subscriptions: this.#subscriptions,
    };
  }

  // ── arrivals ───────────────────────────────────────────────────────────────────────────────────

  #arrivals(): void {
    const draw = sampler(this.#subscriptions);
    const calendar = this.#calendar;
    const mean = 1000 / this.#plan.requestsPerSecond;
    const next = {
      at: this.#random.exponential(mean),
      fire: () => {
        const end = (Math.floor(next.at / tickMs) + 1) * tickMs;
        for (; next.at < end; next.at += this.#random.exponential(mean))
          this.#arrive(draw(this.#random), next.at);
        calendar.add(next);
      },
    };
    calendar.add(next);
  }

  #arrive(owner: Subscription, now: number): void {
    const { tokens, tokensPerSecond, coefficients } = this.#plan;
    const request = this.#spare.pop() ?? new Request(this);
    request.owner = owner;
    request.process = this.#live[Math.floor(this.#random.unit() * this.#live.length)] ?? 0;
    request.arrivedAt = now;
    request.durationMs = (1000 * tokens * (0.5 + this.#random.unit())) / tokensPerSecond;
    request.phase = 'received';
    this.#inside.add(request);
    this.#counts.arrived++;
    // What tokens leave of the core.
    const streaming = this.#streaming[request.process] ?? 0;
    const free = Math.max(0.05, 1 - (streaming * tokensPerSecond * coefficients.tokenUs) / 1e6);
    request.at = this.#core(request.process).serve(now, coefficients.requestUs / free);
    this.#calendar.add(request);
  }

  // ── admission ──────────────────────────────────────────────────────────────────────────────────

  decide(request: Request): void {
    if (this.#gates.isOutage) this.#decideLocally(request, this.#calendar.now());
    else this.#decideInRedis(request);
  }

  #decideInRedis(request: Request): void {
    const { owner } = request;
    const now = this.#redis.decide(owner, this.#calendar.now());
    this.#timeline.decisionWaits.record(now - request.at);
    this.#gates.setTime(now);
    const gate = this.#gates.shared(owner);
    const before = this.#gates.counters.refusedByRate;
    const verdict = gate.enter(owner.limits, now);
    if (verdict === 'started') this.#admitted(request, gate, now);
    else if (verdict === 'wait') this.#queue(request, gate);
    else
      this.#leave(request, this.#gates.counters.refusedByRate > before ? 'refusedByRate' : 'refusedByQueue');
  }

  #decideLocally(request: Request, now: number): void {
    this.#gates.setTime(now);
    const before = this.#gates.counters.refusedByRate;
    const decided = this.#gates.enterLocal(request, now);
    if (decided === undefined) this.#leave(request, 'refusedByOutage');
    else if (decided.verdict === 'started') this.#admitted(request, decided.gate, now);
    else if (decided.verdict === 'wait') this.#queue(request, decided.gate);
    else
      this.#leave(request, this.#gates.counters.refusedByRate > before ? 'refusedByRate' : 'refusedByQueue');
  }

  #queue(request: Request, gate: Gate): void {
    const { generation } = request;
    request.phase = 'queued';
    request.gate = gate;
    this.#waiting.queued++;
    const counters = this.#gates.counters;
    const waiter = {
      admitted: () => {
        if (!this.#isQueued(request, generation)) throw new Error('A waiter that left was admitted');
        this.#waiting.queued--;
        this.#admitted(request, gate, this.#gates.time);
      },
      refused: () => {
        this.#waiting.queued--;
        this.#leave(request, 'refusedByRate');
      },
    };
    request.leaveGate = () => gate.leave(waiter);
    gate.join(waiter);
    this.#at(request.arrivedAt + this.#gates.rules.queueMs, () => {
      if (!this.#isQueued(request, generation)) return;
      request.leaveGate();
      this.#waiting.queued--;
      counters.refusedByQueue++;
      this.#leave(request, 'refusedByQueue');
    });
  }

  #isQueued(request: Request, generation: number): boolean {
    return request.phase === 'queued' && request.generation === generation;
  }

  #admitted(request: Request, gate: Gate, now: number): void {
    const { owner, process } = request;
    const { failover } = this.#plan;
    request.gate = gate;
    this.#counts.started++;
    this.#redis.leaseBegins(owner);
    this.#observer.started?.(owner, now);
    if (this.#gates.isOutage) this.#unreported.set(request, this.#gates.startedLocally(owner));
    else if (failover !== undefined && now < failover.at * 1000 && now >= (failover.at - 60) * 1000)
      this.#log?.add(owner.index, process, now);
    this.#call(request, now);
  }

  // ── engines ────────────────────────────────────────────────────────────────────────────────────

  #call(request: Request, now: number): void {
    const pool = this.#pool(request);
    if (pool.queue.size === 0 && pool.start(request, now)) {
      this.#stream(request, now);
      return;
    }
    request.phase = 'slotless';
    this.#waiting.slotless++;
    if (!pool.queue.enqueue(request)) {
      this.reject(request);
      return;
    }
    const { generation } = request;
    this.#at(now + engineWaitMs, () => {
      if (request.phase !== 'slotless' || request.generation !== generation) return;
      pool.queue.remove(request);
      this.reject(request);
    });
  }

  reject(request: Request): void {
    this.#waiting.slotless--;
    this.#release(request);
    this.#leave(request, 'refusedByEngines');
  }

  #stream(request: Request, now: number): void {
    request.phase = 'streaming';
    request.startedAt = now;
    this.#waiting.streaming++;
    this.#streaming[request.process] = (this.#streaming[request.process] ?? 0) + 1;
    this.#timeline.startWaits.record(now - request.arrivedAt);
    request.at = now + request.durationMs;
    this.#calendar.add(request);
  }

  /** Its engine slot goes to the next. */
  #endCall(request: Request, now: number): void {
    this.#waiting.streaming--;
    this.#streaming[request.process] = (this.#streaming[request.process] ?? 0) - 1;
    const next = this.#pool(request).end(request, now);
    if (next === undefined) return;
    this.#waiting.slotless--;
    this.#stream(next, now);
  }

  finish(request: Request): void {
    this.#endCall(request, this.#calendar.now());
    this.#billing.publish(request.owner.kafkaPartition);
    this.#release(request);
    this.#leave(request, 'completed');
  }

  /** The slot at its gate is free again. */
  #release(request: Request): void {
    const { owner, gate } = request;
    this.#redis.leaseEnds(owner);
    const known = this.#unreported.get(request);
    let now = this.#calendar.now();
    if (!this.#gates.isOutage) now = this.#redis.release(owner, now);
    this.#gates.setTime(now);
    if (known !== undefined) {
      known.ended = true;
      this.#unreported.delete(request);
    } else this.#gates.endedElsewhere(request, now);
    gate?.finish(request.startedAt === 0 ? 0 : now - request.startedAt, now, undefined);
  }

  #leave(request: Request, outcome: Outcome): void {
    this.#counts[outcome]++;
    this.#free(request);
  }

  #free(request: Request): void {
    this.#inside.delete(request);
    request.phase = 'free';
    request.generation++;
    request.gate = undefined;
    request.startedAt = 0;
    this.#spare.push(request);
  }

  // ── failures ───────────────────────────────────────────────────────────────────────────────────

  /** Its streams break, and their clients try again elsewhere; its slots at gates expire with their leases. */
  #killGateway(): void {
    this.#dead = this.#plan.processes;
    this.#live = this.#live.filter((process) => process >= this.#dead);
    for (const request of this.#inside) {
      if (request.process >= this.#dead) continue;
      const { owner, phase } = request;
      if (phase === 'queued') {
        request.leaveGate();
        this.#waiting.queued--;
      }
      if (phase === 'slotless') {
        this.#pool(request).queue.remove(request);
        this.#waiting.slotless--;
      }
      if (phase === 'streaming') this.#drop(request);
      const now = this.#calendar.now();
      const again = now + retryMs * (0.5 + this.#random.unit());
      this.#at(again, () => this.#arrive(owner, again));
      this.#counts.broken++;
      if (phase === 'streaming' || phase === 'slotless') this.#outlive(request, now);
      else this.#void(request);
    }
  }

  /** The process is gone: nobody in its queue is served. */
  #drop(request: Request): void {
    this.#waiting.streaming--;
    this.#streaming[request.process] = (this.#streaming[request.process] ?? 0) - 1;
  }

  /** Redis renewed its lease at most three seconds ago. A new object, as the calendar has the old one. */
  #outlive(request: Request, now: number): void {
    const lease = new Request(this);
    lease.owner = request.owner;
    lease.process = request.process;
    lease.gate = request.gate;
    lease.startedAt = request.startedAt;
    lease.phase = 'leased';
    lease.at = now + leaseMs - this.#random.unit() * renewalMs;
    const unreported = this.#unreported.get(request);
    if (unreported !== undefined) this.#unreported.set(lease, unreported);
    this.#unreported.delete(request);
    this.#void(request);
    this.#calendar.add(lease);
  }

  /** It stays in the calendar, so the object is not used again. */
  #void(request: Request): void {
    this.#inside.delete(request);
    request.phase = 'free';
    request.generation++;
  }

  expire(request: Request): void {
    this.#release(request);
  }

  /** Every process decides by itself from here on, also about what waits. */
  #loseRedis(now: number): void {
    if (this.#log === undefined) return;
    const running = [...this.#inside].filter(({ phase }) => phase === 'slotless' || phase === 'streaming');
    const waiting = this.#takeWaiters();
    this.#gates.beginOutage(now, this.#live, this.#log, running);
    for (const request of waiting) this.#decideLocally(request, now);
  }

  #regainRedis(now: number): void {
    const waiting = this.#takeWaiters();
    this.#gates.endOutage(now);
    for (const request of this.#unreported.keys()) request.gate = this.#gates.shared(request.owner);
    for (const { owner, phase, gate } of this.#inside)
      if (gate !== undefined && phase !== 'queued' && gate !== this.#gates.shared(owner))
        throw new Error('A request is at a gate that no longer exists');
    this.#unreported.clear();
    for (const request of waiting) {
      request.at = now;
      this.#decideInRedis(request);
    }
  }

  /** In the order of their arrival. */
  #takeWaiters(): Request[] {
    const waiting = [...this.#inside].filter(({ phase }) => phase === 'queued');
    waiting.sort((one, other) => one.arrivedAt - other.arrivedAt);
    for (const request of waiting) {
      request.leaveGate();
      request.phase = 'received';
      request.gate = undefined;
      // Its timer is void: the next gate sets another.
      request.generation++;
      this.#waiting.queued--;
    }
    return waiting;
  }

  // ── background ─────────────────────────────────────────────────────────────────────────────────

  #renewals(process: number): void {
    const tick = {
      at: this.#random.unit() * renewalMs,
      fire: () => {
        if (process < this.#dead) return;
        if (!this.#gates.isOutage) this.#redis.renew(this.#live.length, this.#calendar.now());
        tick.at += renewalMs * (0.75 + this.#random.unit() / 4);
        this.#calendar.add(tick);
      },
    };
    this.#calendar.add(tick);
  }

  #at(time: number, work: (now: number) => void): void {
    this.#calendar.add({ at: Math.max(time, this.#calendar.now()), fire: () => work(this.#calendar.now()) });
  }

  #every(interval: number, work: (now: number) => void): void {
    const tick = {
      at: interval,
      fire: () => {
        work(tick.at);
        tick.at += interval;
        this.#calendar.add(tick);
      },
    };
    this.#calendar.add(tick);
  }

  #core(process: number): Server {
    return this.#cores[process] as Server;
  }

  #pool({ process, owner }: Request): Pool {
    return this.#pools[process]?.[owner.model] as Pool;
  }
}
