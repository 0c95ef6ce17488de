/** Finds the caller of an API key, from a cache with bounded staleness. */

import { from, mergeMap, type Observable, throwError } from 'rxjs';
import type { KeyRecord, SubscriptionRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { emitted } from '../helpers/emitted.ts';
import type { Caller } from '../ports/exchange.ts';
import type { Keys } from '../ports/keys.ts';
import type { State } from '../ports/state.ts';
import type { LastUsed } from './last-used.ts';
import { scopeOf } from './scope.ts';
import { hashSecret, maxSecretLength } from './secret.ts';

/** Milliseconds since the read that a cached verdict rests on began. */
interface Staleness {
  /** From here on a request starts another read in the background. */
  readonly refresh: number;
  /** From here on requests wait for that read: a key revoked before it is refused. */
  readonly limit: number;
  /**
   * While the store is unavailable, keys found active before are accepted for so long. Nobody can revoke a key in a
   * store that is down; only a replica that alone has lost its connection can accept a revoked one, and no longer.
   */
  readonly outage: number;
}

const defaultStaleness: Staleness = { refresh: 1_000, limit: 2_000, outage: 30_000 };

export interface AuthenticatorSettings {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly staleness?: Staleness;
  /** Cached active and refused secrets; separate, so that a flood of wrong ones evicts no good one. */
  readonly cached?: { readonly active: number; readonly refused: number };
  /** Called when a key that was active is not there any more: keys are never deleted, so the store has lost data. */
  readonly onVanished?: () => void;
  /** Where their use is noted; nowhere unless given. */
  readonly lastUsed?: LastUsed;
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
    staleness = defaultStaleness,
    cached = { active: 10_000, refused: 2_000 },
    onVanished,
    lastUsed,
  }: AuthenticatorSettings = {},
): Keys['authenticate'] => {
  const active = new Map<string, Verdict>();
  const refused = new Map<string, Verdict>();
  /** One read per secret, however many requests wait for it. */
  const reads = new Map<string, Promise<Verdict['answer']>>();

  const read = async (secret: string): Promise<Verdict['answer']> => {
    const readAt = now();
    try {
      const caller = await findCaller(state, secret, active.has(secret));
      active.delete(secret);
      refused.delete(secret);
      const verdict: Verdict = {
        answer: caller ?? invalid,
        active: caller !== undefined,
        readAt,
        refreshAt: readAt + staleness.refresh,
        goodUntil: readAt + staleness.limit,
      };
      if (caller !== undefined) lastUsed?.note(caller.key, caller.subscription);
      if (verdict.active) remember(active, secret, verdict, cached.active);
      else remember(refused, secret, verdict, cached.refused);
      return verdict.answer;
    } catch (error) {
      if (error instanceof Vanished) onVanished?.();
      const verdict = active.get(secret);
      const at = now();
      const acceptedUntil = (verdict?.readAt ?? Number.NEGATIVE_INFINITY) + staleness.outage;
      if (verdict === undefined || at >= acceptedUntil) return unavailable(error);
      verdict.refreshAt = at + staleness.refresh;
      verdict.goodUntil = Math.min(at + staleness.limit, acceptedUntil);
      return verdict.answer;
    } finally {
      reads.delete(secret);
    }
  };

  const shareRead = (secret: string): Promise<Verdict['answer']> => {
    let current = reads.get(secret);
    if (current === undefined) {
      current = read(secret);
      reads.set(secret, current);
    }
    return current;
  };

  return (secret) => {
    const verdict = active.get(secret) ?? refused.get(secret);
    if (verdict !== undefined) {
      const at = now();
      if (at < verdict.goodUntil) {
        if (at >= verdict.refreshAt) void shareRead(secret);
        return verdict.answer;
      }
    }
    if (secret.length > maxSecretLength) return invalid;
    return from(shareRead(secret)).pipe(mergeMap(emitted));
  };
};

/** As good as a store that is unavailable: the key may be restored in a moment. */
class Vanished extends Error {}

const findCaller = async (state: State, secret: string, known: boolean): Promise<Caller | undefined> => {
  const key = (await state.get<KeyRecord>('key', hashSecret(secret)))?.value;
  if (key === undefined && known) throw new Vanished('the store has lost a key');
  if (key?.status !== 'active') return undefined;
  const subscription = await state.get<SubscriptionRecord>('subscription', key.subscription);
  if (subscription?.value.status !== 'active') return undefined;
  const { limits, tags } = key;
  const scope = scopeOf(key);
  return {
    subscription: key.subscription,
    key: key.id,
    ...(scope === undefined ? {} : { scope }),
    ...(limits === undefined ? {} : { limits }),
    ...(tags === undefined ? {} : { tags }),
  };
};

/** Evicts the one not read for longest: a key in use is read again, and so moved back, every second or two. */
const remember = (verdicts: Map<string, Verdict>, secret: string, verdict: Verdict, max: number): void => {
  if (verdicts.size >= max)
    for (const oldest of verdicts.keys()) {
      verdicts.delete(oldest);
      break;
    }
  verdicts.set(secret, verdict);
};

const invalid: Observable<never> = throwError(() => fail('authentication', 'Invalid API key'));

const unavailable = (cause: unknown): Observable<never> =>
  throwError(() => fail('unavailable', 'API keys cannot be checked at the moment', { cause }));
