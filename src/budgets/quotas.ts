/** The Quotas port: reserves what a call may use, and settles it with its usage event. */
import type { Logger } from 'pino';
import { catchError, defer, firstValueFrom, map, Observable, switchMap, throwError } from 'rxjs';
import type { JobClaim } from '../../schemas/jobs.ts';
import { nanodollars } from '../helpers/decimal.ts';
import { emitted } from '../helpers/emitted.ts';
import type { LimitsBook } from '../limits/book.ts';
import {
  type Allowance,
  type Allowances,
  type Claim,
  Exhausted,
  type Reservation,
} from '../ports/allowances.ts';
import type { Quota, QuotaRequest, Quotas, Quoted } from '../ports/quotas.ts';
import type { BudgetsBook } from './book.ts';
import { claimsOf, countsTokens, isAboutPrompt, type NamedClaim, withPrompt } from './claims.ts';
import { HeldQuota } from './held-quota.ts';
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

  const take = (request: QuotaRequest, claims: readonly NamedClaim[]): Quota | Observable<Quota> => {
    const { id } = request.exchange;
    const held = (reservation: Reservation): Quota => new HeldQuota(id, claims, reservation, stats, log);
    const reserved = allowances.reserve(id, claims);
    return reserved instanceof Observable ? reserved.pipe(map(held)) : held(reserved);
  };

  /** A prompt was taken to have as many tokens as bytes: it is counted before it is refused for that. */
  const takeCounted = (
    request: QuotaRequest & Quoted,
    claims: readonly NamedClaim[],
    error: unknown,
  ): Observable<Quota> => {
    const counted = isAboutPrompt(claims, error) ? request.account?.countPrompt?.() : undefined;
    if (counted === undefined) return throwError(() => refused(claims, error));
    return counted.pipe(
      switchMap((prompt) => {
        const fewer = withPrompt(claims, request.account?.most?.(), prompt);
        return defer(() => emitted(take(request, fewer))).pipe(
          catchError((again: unknown) => throwError(() => refused(fewer, again))),
        );
      }),
    );
  };

  const reserve = (request: QuotaRequest): Quota | Observable<Quota> | undefined => {
    const quoted = request as QuotaRequest & Quoted;
    const { caller, task } = quoted;
    if (
      budgets.isEmpty &&
      caller.limits === undefined &&
      !limits.countsTokens &&
      !countsTokens(task.model.limits)
    )
      return undefined;
    const claims = claimsOf(parts, caller, quoted, now());
    if (claims.length === 0) return undefined;
    try {
      const quota = take(request, claims);
      if (!(quota instanceof Observable)) return quota;
      return quota.pipe(catchError((error: unknown) => takeCounted(quoted, claims, error)));
    } catch (error) {
      return takeCounted(quoted, claims, error);
    }
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
      const names = claims.map(({ name }) => name);
      await allowances.settle({ id, cost: nanodollars(cost) }, names);
      for (const name of names) stats.touch(name);
    },
  };
};

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
