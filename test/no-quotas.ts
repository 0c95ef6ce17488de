/** Quotas that limit nothing. */
import type { Quotas } from '../src/ports/quotas.ts';

export const noQuotas: Quotas = {
  reserve: () => undefined,
  reserveJob: () => undefined,
  resumeJob: () => Promise.resolve(),
  settleJob: () => Promise.resolve(),
};
