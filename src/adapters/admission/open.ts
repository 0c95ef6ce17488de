/** Opens the configured Admission adapter, and checks that it responds. */
import type { Logger } from 'pino';
import type { Admission } from '../../ports/admission.ts';
import { checked } from '../checked.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { createLocalAdmission } from './local.ts';
import type { Rules } from './rules.ts';

export interface AdmissionConfig {
  readonly redis: RedisAddress | undefined;
  readonly admission: {
    /** During an outage of Redis: refuse with 503, or decide in each process within its portion of the limits. */
    readonly fallback: 'refuse' | 'local';
    /** Other rules than the usual ones; for tests, which cannot wait for minutes. */
    readonly rules?: Partial<Rules> & { readonly ttlMs?: number };
  };
}

/** Rejects with one sentence for the operator when the service behind it cannot be used. */
export const openAdmission = async (
  { redis, admission: { fallback, rules } }: AdmissionConfig,
  log: Logger,
): Promise<Admission> => {
  if (redis === undefined) return createLocalAdmission(rules);
  const { createRedisAdmission } = await import('./redis.ts');
  return checked(createRedisAdmission(redis, { ...rules, fallback, log }));
};
