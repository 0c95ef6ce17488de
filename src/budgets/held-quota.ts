/** What a request has reserved: settled with its usage event, or with nothing where it has none. */
import type { Logger } from 'pino';
import type { LimitWindow } from '../errors.ts';
import type { Reservation } from '../ports/allowances.ts';
import type { MostUsed, Quota, UsedQuantities } from '../ports/quotas.ts';
import { amountOf, isOfTokens, type NamedClaim, usedBy } from './claims.ts';
import type { QuotaStats } from './stats.ts';

export class HeldQuota implements Quota {
  readonly tokens: LimitWindow | undefined;
  readonly #id: string;
  readonly #claims: readonly NamedClaim[];
  readonly #reservation: Reservation;
  readonly #stats: QuotaStats;
  readonly #log: Logger;
  #expectsEvent = false;
  #settled = false;

  constructor(
    id: string,
    claims: readonly NamedClaim[],
    reservation: Reservation,
    stats: QuotaStats,
    log: Logger,
  ) {
    this.#id = id;
    this.#claims = claims;
    this.#reservation = reservation;
    this.#stats = stats;
    this.#log = log;
    this.tokens = tokensLeft(claims, reservation);
  }

  covers(most: MostUsed): boolean {
    return this.#exceeded(most) === undefined;
  }

  /** Prompts are the same whichever model reads them, and their tokens may be an estimate. */
  #exceeded(used: MostUsed): NamedClaim | undefined {
    return this.#claims.find(
      ({ amount, measure }) =>
        (measure === 'cost' || measure === 'completion') && amountOf(measure, used) > amount,
    );
  }

  expectEvent(): void {
    this.#expectsEvent = true;
  }

  end(): void {
    if (!this.#expectsEvent) this.settle(undefined);
  }

  settle(event: UsedQuantities | undefined): void {
    if (this.#settled) return;
    this.#settled = true;
    const used = usedBy(event);
    this.#reservation.settle(this.#claims.map(({ measure }) => amountOf(measure, used)));
    for (const { allowance, measure } of this.#claims)
      if (measure === 'cost') this.#stats.touch(allowance.name);
    const exceeded = this.#exceeded(used);
    if (exceeded !== undefined) this.#overrun(exceeded, amountOf(exceeded.measure, used));
  }

  /** It is counted as it is; whoever set the limit should know that the engine does more than it was asked to. */
  #overrun({ measure, amount }: NamedClaim, used: number): void {
    this.#stats.overrun();
    const about = { request_id: this.#id, measure, reserved: amount, used };
    this.#log.warn(about, 'call used more than was reserved');
  }
}

/** A minute after what was reserved last, which this is, all of it is available again. */
const tokensLeft = (claims: readonly NamedClaim[], reservation: Reservation): LimitWindow | undefined => {
  let least: LimitWindow | undefined;
  for (const [index, { allowance, measure }] of claims.entries()) {
    if (!isOfTokens(measure) || allowance.span.kind !== 'window') continue;
    const remaining = reservation.left(index);
    if (remaining === undefined || remaining >= (least?.remaining ?? Number.POSITIVE_INFINITY)) continue;
    const resetAt = performance.now() + allowance.span.ms;
    least = { unit: 'tokens', limit: allowance.limit, remaining, resetAt };
  }
  return least;
};
