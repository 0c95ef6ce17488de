/** A secret in; the caller it belongs to out, from memory when it was seen lately. */
import { from, mergeMap, Observable, of, throwError } from 'rxjs';
import type { KeyRecord, SubscriptionRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import type { Caller } from '../ports/exchange.ts';
import type { Keys } from '../ports/keys.ts';
import type { State } from '../ports/state.ts';
import { hashSecret, longestSecret } from './secret.ts';

/** Milliseconds, counted from the start of the reading that an answer rests on. */
export interface Staleness {
  /** From here on a request for the key starts another reading, which nobody waits for. */
  readonly refresh: number;
  /** From here on requests wait for that reading: what was revoked before is refused. */
  readonly limit: number;
  /**
   * While the store does not answer, keys found active before are believed for so long. Nobody can revoke a key in
   * a store that is down; only a replica that alone is cut off from it can so serve a revoked one, and no longer.
   */
  readonly outage: number;
}

const usual: Staleness = { refresh: 1_000, limit: 2_000, outage: 30_000 };

export interface AuthenticatorSettings {
  /** Milliseconds that only go forward. */
  readonly now?: () => number;
  readonly staleness?: Staleness;
  /** How many active and how many refused secrets are remembered. Apart, so that a flood of wrong ones ousts no good one. */
  readonly remembered?: { readonly active: number; readonly refused: number };
}

interface Verdict {
  readonly answer: Caller | Observable<never>;
  readonly active: boolean;
  readonly readAt: number;
  refreshAt: number;
  goodUntil: number;
}

export const createAuthenticator = (
  state: State,
  {
    now = () => performance.now(),
    staleness = usual,
    remembered = { active: 10_000, refused: 2_000 },
  }: AuthenticatorSettings = {},
): Keys['authenticate'] => {
  const active = new Map<string, Verdict>();
  const refused = new Map<string, Verdict>();
  /** One reading per secret, however many requests wait for it. */
  const readings = new Map<string, Promise<Verdict['answer']>>();

  const read = async (secret: string): Promise<Verdict['answer']> => {
    const readAt = now();
    try {
      const caller = await findCaller(state, secret);
      active.delete(secret);
      refused.delete(secret);
      const verdict: Verdict = {
        answer: caller ?? invalid,
        active: caller !== undefined,
        readAt,
        refreshAt: readAt + staleness.refresh,
        goodUntil: readAt + staleness.limit,
      };
      if (verdict.active) remember(active, secret, verdict, remembered.active);
      else remember(refused, secret, verdict, remembered.refused);
      return verdict.answer;
    } catch (error) {
      const verdict = active.get(secret);
      const at = now();
      const believedUntil = (verdict?.readAt ?? Number.NEGATIVE_INFINITY) + staleness.outage;
      if (verdict === undefined || at >= believedUntil) return unavailable(error);
      verdict.refreshAt = at + staleness.refresh;
      verdict.goodUntil = Math.min(at + staleness.limit, believedUntil);
      return verdict.answer;
    } finally {
      readings.delete(secret);
    }
  };

  const reading = (secret: string): Promise<Verdict['answer']> => {
    let current = readings.get(secret);
    if (current === undefined) {
      current = read(secret);
      readings.set(secret, current);
    }
    return current;
  };

  return (secret) => {
    const verdict = active.get(secret) ?? refused.get(secret);
    if (verdict !== undefined) {
      const at = now();
      if (at < verdict.goodUntil) {
        if (at >= verdict.refreshAt) void reading(secret);
        return verdict.answer;
      }
    }
    if (secret.length > longestSecret) return invalid;
    return from(reading(secret)).pipe(
      mergeMap((answer) => (answer instanceof Observable ? answer : of(answer))),
    );
  };
};

const findCaller = async (state: State, secret: string): Promise<Caller | undefined> => {
  const key = (await state.get<KeyRecord>('key', hashSecret(secret)))?.value;
  if (key?.status !== 'active') return undefined;
  const subscription = await state.get<SubscriptionRecord>('subscription', key.subscription);
  return subscription?.value.status === 'active'
    ? { subscription: key.subscription, key: key.id }
    : undefined;
};

/** The one not read for longest goes first: a key in use is read again, and so moved back, every second or two. */
const remember = (verdicts: Map<string, Verdict>, secret: string, verdict: Verdict, most: number): void => {
  if (verdicts.size >= most)
    for (const oldest of verdicts.keys()) {
      verdicts.delete(oldest);
      break;
    }
  verdicts.set(secret, verdict);
};

const invalid: Observable<never> = throwError(() => fail('authentication', 'Invalid API key'));

const unavailable = (cause: unknown): Observable<never> =>
  throwError(() => fail('unavailable', 'API keys cannot be checked at the moment', { cause }));
