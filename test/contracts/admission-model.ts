/** The reference model of admission: plain arrays and times in milliseconds. */
import type { Limits } from '../../src/ports/admission.ts';

export interface ModelRules {
  readonly windowMs: number;
  readonly queueLength: number;
  readonly queueMs: number;
}

export type Said = (name: string, outcome: string) => void;

export class ModelGate {
  readonly #rules: ModelRules;
  readonly #say: Said;
  #limits: Limits = { concurrency: 0, requests_per_minute: 0 };
  #starts: number[] = [];
  #running: { name: string; since: number }[] = [];
  #line: { name: string; arrived: number }[] = [];
  #hold: number | undefined;
  #moved = 0;

  constructor(rules: ModelRules, say: Said) {
    this.#rules = rules;
    this.#say = say;
  }

  get running(): readonly string[] {
    return this.#running.map(({ name }) => name);
  }

  get waiting(): readonly string[] {
    return this.#line.map(({ name }) => name);
  }

  arrive(name: string, limits: Limits, now: number): void {
    this.#limits = limits;
    if (this.#running.length + this.#line.length === 0 && this.#untilRoom(1, now) === 0)
      this.#hold = undefined;
    this.#serve(now);
    if (this.#line.length === 0 && this.#running.length < limits.concurrency)
      this.#turn(name, undefined, now);
    else if (this.#line.length >= Math.min(this.#rules.queueLength, limits.requests_per_minute))
      this.#refuse(name, this.#estimate(now));
    else {
      const wait = this.#untilRoom(limits.requests_per_minute - this.#line.length, now);
      if (wait > this.#rules.queueMs) this.#refuse(name, wait);
      else this.#line.push({ name, arrived: now });
    }
  }

  release(name: string, now: number): void {
    const index = this.#running.findIndex((each) => each.name === name);
    const held = now - (this.#running[index]?.since ?? now);
    this.#running.splice(index, 1);
    this.#hold = this.#hold === undefined ? held : this.#hold + (held - this.#hold) / 8;
    this.#moved = now;
    this.#serve(now);
  }

  disconnect(name: string): void {
    this.#line = this.#line.filter((each) => each.name !== name);
  }

  /** Earliest time at which a wait is over. */
  get deadline(): number {
    return Math.min(...this.#line.map(({ arrived }) => arrived + this.#rules.queueMs));
  }

  /** Ends the wait of the first whose time is over. */
  expire(now: number): void {
    const index = this.#line.findIndex(({ arrived }) => arrived + this.#rules.queueMs <= now);
    const [late] = this.#line.splice(index, 1);
    if (late !== undefined) this.#refuse(late.name, this.#estimate(now));
  }

  #serve(now: number): void {
    while (this.#line.length > 0 && this.#running.length < this.#limits.concurrency) {
      const next = this.#line.shift();
      if (next !== undefined) this.#turn(next.name, next.arrived, now);
    }
  }

  #turn(name: string, arrived: number | undefined, now: number): void {
    const wait = this.#untilRoom(this.#limits.requests_per_minute, now);
    if (wait > 0) {
      this.#refuse(name, wait);
      return;
    }
    this.#starts.push(now);
    this.#moved = now;
    this.#running.push({ name, since: now });
    this.#say(name, `admitted after ${arrived === undefined ? 0 : now - arrived}`);
  }

  #untilRoom(limit: number, now: number): number {
    const counting = this.#starts.filter((start) => start > now - this.#rules.windowMs);
    return counting.length < limit
      ? 0
      : (counting[counting.length - limit] ?? 0) + this.#rules.windowMs - now;
  }

  #estimate(now: number): number {
    const pace = Math.max((this.#hold ?? 0) / this.#limits.concurrency, now - this.#moved);
    return Math.max((this.#line.length + 1) * pace, this.#untilRoom(this.#limits.requests_per_minute, now));
  }

  #refuse(name: string, waitMs: number): void {
    this.#say(name, `refused for ${Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)))}`);
  }
}
