/** The Quotas port: reserves what a call may use, and settles it with its usage event. */
import type { Logger } from 'pino';
import { catchError, firstValueFrom, map, Observable, throwError } from 'rxjs';
import type { JobClaim } from '../../schemas/jobs.ts';
import { nanodollars } from '../decimal.ts';
import type { LimitsBook } from '../limits/book.ts';
import {
  type Allowance,
  type Allowances,
  type Claim,
  Exhausted,
  type Reservation,
} from '../ports/allowances.ts';
import type { MostUsed, Quota, QuotaRequest, Quotas, Quoted, UsedQuantities } from '../ports/quotas.ts';
import type { BudgetsBook } from './book.ts';
import { amountOf, claimsOf, countsTokens, type NamedClaim, usedBy } from './claims.ts';
import { refusal } from './refusal.ts';
import type { QuotaStats } from './stats.ts';

interface QuotaParts {
  readonly allowances: Allowances;
  readonly budgets: BudgetsBook;
  readonly limits: LimitsBook;
  readonly stats: QuotaStats;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export const createQuotas = (parts: QuotaParts): Quotas => {
  const { allowances, budgets, limits, stats, log, now = Date.now } = parts;
  const refused = (claims: readonly NamedClaim[], error: unknown): unknown => {
    if (!(error instanceof Exhausted)) return error;
    const { name } = error.claim.allowance;
    const claim = claims.find(({ allowance }) => allowance.name === name);
    if (claim === undefined) return error;
    stats.refused(claim);
    return refusal(claim, error, now());
  };

  const reserve = (request: QuotaRequest): Quota | Observable<Quota> | undefined => {
    const { caller, task } = request as QuotaRequest & Quoted;
    if (
      budgets.isEmpty &&
      caller.limits === undefined &&
      !limits.countsTokens &&
      !countsTokens(task.model.limits)
    )
      return undefined;
    const claims = claimsOf(parts, caller, request as Quoted, now());
    if (claims.length === 0) return undefined;
    const { id } = request.exchange;
    const held = (reservation: Reservation): Quota => new HeldQuota(id, claims, reservation, stats, log);
    let reserved: Reservation | Observable<Reservation>;
    try {
      reserved = allowances.reserve(id, claims);
    } catch (error) {
      throw refused(claims, error);
    }
    if (!(reserved instanceof Observable)) return held(reserved);
    return reserved.pipe(
      map(held),
      catchError((error: unknown) => throwError(() => refused(claims, error))),
    );
  };

  return {
    reserve,

    reserveJob: ({ id, caller, cost }) => {
      const amount = nanodollars(cost);
      const found = amount === 0 ? undefined : budgets.of(caller, now());
      if (found === undefined) return undefined;
      const claims = found.map((allowance) => ({ allowance, amount, measure: 'cost' }) as const);
      return reserveLasting(allowances, id, claims, false).then(
        () => claims.map(jobClaim),
        (error: unknown) => {
          throw refused(claims, error);
        },
      );
    },

    resumeJob: (id, claims) => reserveLasting(allowances, id, claims.map(claimOf), true),

    settleJob: async (id, claims, cost) => {
      await allowances.settle({ id, cost: nanodollars(cost) });
      for (const { name } of claims) stats.touch(name);
    },
  };
};

class HeldQuota implements Quota {
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
  }

  covers(most: MostUsed): boolean {
    return this.#claims.every(({ amount, measure }) => amountOf(measure, most) <= amount);
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
    if (!this.covers(used)) this.#overrun(used);
  }

  /** It is counted as it is; whoever set the limit should know that the engine does more than it was asked to. */
  #overrun(used: MostUsed): void {
    const [claim] = this.#claims.filter(({ amount, measure }) => amountOf(measure, used) > amount);
    this.#stats.overrun();
    this.#log.warn(
      { request_id: this.#id, of: claim?.measure, reserved: claim?.amount, used },
      'call used more than was reserved',
    );
  }
}

const reserveLasting = async (
  allowances: Allowances,
  id: string,
  claims: readonly Claim[],
  again: boolean,
): Promise<void> => {
  const reserved = allowances.reserve(id, claims, { lasting: true, ...(again ? { again } : {}) });
  if (reserved instanceof Observable) await firstValueFrom(reserved);
};

const jobClaim = ({ allowance, amount }: Claim): JobClaim => {
  const { name, limit, span } = allowance;
  const { start, end } = span.kind === 'period' ? span : { start: 0, end: undefined };
  return { name, limit, start, end: end ?? null, amount };
};

const claimOf = ({ name, limit, start, end, amount }: JobClaim): Claim => {
  const allowance: Allowance = { name, limit, span: { kind: 'period', start, end: end ?? undefined } };
  return { allowance, amount };
};
