/** Allowances: amounts that may be used, reserved before a call and settled after it. */
import type { Observable } from 'rxjs';

/** When what was used counts no longer. */
export type Span =
  /** Requests at once: with its settlement. */
  | { readonly kind: 'held' }
  /** Tokens per minute: so many milliseconds after it was reserved. */
  | { readonly kind: 'window'; readonly ms: number }
  /** Dollars per month: when the period ends, in Unix milliseconds; undefined: never. */
  | { readonly kind: 'period'; readonly start: number; readonly end: number | undefined };

export interface Allowance {
  /**
   * What is counted; the kind and length of its span, and a period's start, belong to it. The part before the first
   * slash is whose it is: what a call claims of one owner is decided in one step.
   */
  readonly name: string;
  /** A whole number below 2⁵³, as every amount is. Where requests disagree, that of the latest holds. */
  readonly limit: number;
  readonly span: Span;
}

export interface Claim {
  readonly allowance: Allowance;
  /** The most that the call can use. */
  readonly amount: number;
}

/** One claim did not fit, and nothing was reserved. */
export class Exhausted extends Error {
  readonly claim: Claim;
  /** Neither used nor reserved. */
  readonly left: number;
  /** Milliseconds until the claim fits if nothing else is used; undefined: not by waiting alone. */
  readonly retryMs: number | undefined;

  constructor(claim: Claim, left: number, retryMs: number | undefined) {
    const { name, limit } = claim.allowance;
    // Capturing a stack takes longer than a hundred decisions, and a flood of refusals has no use for it.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${name} has ${left} of ${limit} left, ${claim.amount} were claimed`);
    Error.stackTraceLimit = stackTraceLimit;
    this.claim = claim;
    this.left = left;
    this.retryMs = retryMs;
  }
}

export interface Reservation {
  /** What was left of a claim's allowance once it was reserved; undefined where that is not known. */
  left(index: number): number | undefined;
  /** What each claim used in the end, in the order they were made; only the first call counts. */
  settle(used: readonly number[]): void;
}

export interface ReserveOptions {
  /** The call outlives this process, as a job does: the reservation ends with its settlement, in whatever process. */
  readonly lasting?: boolean;
  /** It was reserved before, and may have been lost since: reserved whatever is left; no change where it is known. */
  readonly again?: boolean;
}

export interface Used {
  /** Settled, and reserved but not settled. */
  readonly used: number;
  readonly reserved: number;
}

/** What a request cost in the end, in nanodollars, as its usage event says. */
export interface Charge {
  readonly id: string;
  readonly cost: number;
}

export interface DeadProcess {
  /** As it was called while it was alive. */
  readonly process: string;
  /** What it recorded last. */
  readonly charges: readonly Charge[];
  /** It had used what it may use while the service behind allowances is unavailable, and not reported it yet. */
  readonly cutOff: boolean;
}

export interface Allowances {
  /**
   * All claims or none, at once where this process decides. Throws or errors with `Exhausted`, or with `unavailable`
   * (503) where it cannot be decided. `id` is the request's, unique among those that are not settled: what it used is
   * settled under it, even after this process died.
   */
  reserve(
    id: string,
    claims: readonly Claim[],
    options?: ReserveOptions,
  ): Reservation | Observable<Reservation>;
  /**
   * Settles a lasting reservation by its id, in whatever process: periods are settled with the cost, windows stay as
   * reserved. Unknown ids are ignored. `names` are those of the allowances that it claimed. Resolves once it is certain
   * to be counted.
   */
  settle(charge: Charge, names: readonly string[]): Promise<void>;
  /**
   * Another process has died, and its usage is shipped. What it reserved is settled by its last usage events; by the
   * ledger, some time later, where they do not have it; and released where neither does.
   */
  died(dead: DeadProcess): Promise<void>;
  /** Processes that died and have reservations left, of which `died` was not called: operators may do so. */
  abandoned(): Promise<readonly string[]>;
  /** As of now, for people to look at. */
  used(allowances: readonly Allowance[]): Promise<readonly Used[]>;
  /** Resolves when the service behind it responds; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** What each claim used, where only the cost is known: windows stay as reserved. */
export const usedByCost = (claims: readonly Claim[], cost: number): number[] =>
  claims.map(({ allowance: { span }, amount }) => (span.kind === 'period' ? cost : amount));
