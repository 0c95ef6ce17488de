/** Opens the configured Allowances adapter, and checks that it responds. */
import type { Logger } from 'pino';
import type { Allowance, Allowances } from '../../ports/allowances.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { AdmissionConfig } from '../admission/open.ts';
import { checked } from '../checked.ts';
import { LocalAllowances } from './local.ts';

export interface AllowancesOptions {
  /** The name of this process: that of its journal, by which others settle what it leaves behind. */
  readonly process: string;
  /** What was used of a period before it was first claimed: all that is billed, shipped or not. */
  spent(allowance: Allowance): Promise<number>;
  /** Where the usage of dead processes is looked up. */
  readonly ledger: Pick<Ledger, 'list'>;
  /** Keeps in the journal whether this process has used what Redis does not know of yet. */
  markCutOff(isCutOff: boolean): void;
  readonly log: Logger;
}

/** Rejects with one sentence for the operator when the service behind it cannot be used. */
export const openAllowances = async (
  { redis, admission: { fallback, rules } }: AdmissionConfig,
  options: AllowancesOptions,
): Promise<Allowances> => {
  const { process, ledger, log } = options;
  const spent = (allowance: Allowance) => options.spent(allowance);
  if (redis === undefined) return new LocalAllowances({ spent });
  const { RedisAllowances } = await import('./redis.ts');
  const markCutOff = (isCutOff: boolean) => options.markCutOff(isCutOff);
  const ttl = rules?.ttlMs === undefined ? {} : { ttlMs: rules.ttlMs };
  return checked(new RedisAllowances(redis, { process, spent, ledger, markCutOff, fallback, log, ...ttl }));
};
