/** Counts what is used of one allowance in this process: while it is held, in a window, or in a period. */
import type { Allowance } from '../../ports/allowances.ts';
import { AmountWindow } from './amount-window.ts';

export interface Counter {
  /** False until it is known what was used before. */
  readonly ready: boolean;
  /** Settled and reserved. */
  used(now: number): number;
  /** As of the last look at what is used. */
  readonly reserved: number;
  /** Returns what `settle` has to be called with. */
  take(amount: number, now: number): number;
  settle(taken: number, reserved: number, used: number): void;
  /** Milliseconds until no more than `most` is used, if nothing is added; undefined: time alone does not help. */
  waitFor(most: number, now: number): number | undefined;
  /** A new counter would decide the same. */
  idleAt(now: number): boolean;
}

export class HeldCounter implements Counter {
  readonly ready = true;
  reserved = 0;

  used(): number {
    return this.reserved;
  }

  take(amount: number): number {
    this.reserved += amount;
    return 0;
  }

  settle(_taken: number, reserved: number): void {
    this.reserved -= reserved;
  }

  waitFor(): undefined {
    return undefined;
  }

  idleAt(): boolean {
    return this.reserved === 0;
  }
}

export class WindowCounter implements Counter {
  readonly ready = true;
  readonly ms: number;
  readonly #window: AmountWindow;

  constructor(ms: number) {
    this.ms = ms;
    this.#window = new AmountWindow(ms);
  }

  get reserved(): number {
    return this.#window.reserved;
  }

  used(now: number): number {
    return this.#window.total(now);
  }

  take(amount: number, now: number): number {
    return this.#window.add(amount, now);
  }

  settle(taken: number, _reserved: number, used: number): void {
    this.#window.settle(taken, used);
  }

  waitFor(most: number, now: number): number {
    return this.#window.waitFor(most, now);
  }

  idleAt(now: number): boolean {
    return this.#window.empty(now);
  }
}

/** One that nobody asked for in so many milliseconds is read from the ledger again when somebody does. */
const keptMs = 3_600_000;

interface PeriodOptions {
  /** In Unix milliseconds, as the wall clock; undefined: never. */
  readonly end: number | undefined;
  readonly wallClock: () => number;
  readonly now: number;
  /** What was used before; undefined: not known yet. */
  readonly settled: number | undefined;
}

export class PeriodCounter implements Counter {
  reserved = 0;
  readonly #allowance: Allowance;
  readonly #end: number | undefined;
  readonly #wallClock: () => number;
  #settled: number | undefined;
  #reading: Promise<void> | undefined;
  #lastAsked: number;

  constructor(allowance: Allowance, { end, wallClock, now, settled }: PeriodOptions) {
    this.#allowance = allowance;
    this.#end = end;
    this.#wallClock = wallClock;
    this.#lastAsked = now;
    this.#settled = settled;
  }

  get ready(): boolean {
    return this.#settled !== undefined;
  }

  /** Resolves when it is ready; all who ask meanwhile share one look. */
  seed(spent: (allowance: Allowance) => Promise<number>): Promise<void> {
    this.#reading ??= spent(this.#allowance)
      .then((amount) => {
        this.#settled = amount;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  used(now: number): number {
    this.#lastAsked = now;
    return (this.#settled ?? 0) + this.reserved;
  }

  take(amount: number): number {
    this.reserved += amount;
    return 0;
  }

  settle(_taken: number, reserved: number, used: number): void {
    this.reserved -= reserved;
    this.#settled = (this.#settled ?? 0) + used;
  }

  waitFor(): number | undefined {
    return this.#end === undefined ? undefined : Math.max(0, this.#end - this.#wallClock());
  }

  idleAt(now: number): boolean {
    if (this.reserved > 0 || this.#reading !== undefined) return false;
    return now - this.#lastAsked > keptMs || (this.#end !== undefined && this.#wallClock() >= this.#end);
  }
}
