/** Reserves again what open jobs may cost: a store of reservations in memory has forgotten it. */
import type { Quotas } from '../ports/quotas.ts';
import type { State } from '../ports/state.ts';
import { JobStore } from './store.ts';

/** Before the first request is served, which could otherwise use what they will cost. */
export const resumeQuotas = async (state: State, quotas: Pick<Quotas, 'resumeJob'>): Promise<void> => {
  for await (const { id, claims } of new JobStore(state).unsettled())
    if (claims !== undefined) await quotas.resumeJob(id, claims);
};
