/** The readiness checks of each kind of process. */
import type { Model } from '../../schemas/catalog.ts';
import { asApiError } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engines/engine.ts';
import type { Reading } from '../ports/events.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import type { UsageLog } from '../ports/usage.ts';
import type { Checks } from './readiness.ts';

type Needing = Pick<Model, 'kind' | 'engine'>;

interface EngineReplicas {
  /** An open circuit takes no calls; a half-open one takes a trial call. */
  readonly replicas: readonly { readonly circuit: string }[];
}

export interface Billable {
  readonly state: Pick<State, 'check'>;
  readonly usage: Pick<UsageLog, 'ensureOpen'>;
  readonly catalog: Pick<Catalog, 'list'> & { inService(): readonly Needing[] };
  readonly engines: Pick<Engines, 'health'> & { stats(): ReadonlyMap<string, EngineReplicas> };
}

/** Can it take billable requests: authenticate callers, record usage, and reach a model. */
export const gatewayChecks = ({ state, usage, catalog, engines }: Billable): Checks => ({
  storage: () => state.check(),
  usage: () => usage.ensureOpen(),
  catalog: () => modelsInService(catalog),
  engines: () => someEngine(catalog.inService(), engines),
});

/** Can it take a job: read and write its record, store its output, and bill it. */
export const workerChecks = (parts: Billable & { readonly blobs: Pick<Blobs, 'check'> }): Checks => ({
  ...gatewayChecks(parts),
  engines: () => someEngine(parts.catalog.inService().filter(renders), parts.engines),
  files: () => parts.blobs.check(),
});

/** Can it bill: read from Kafka, and write to the ledger. */
export const billingChecks = (reading: Pick<Reading, 'stats'>, ledger: Pick<Ledger, 'check'>): Checks => ({
  kafka: () => {
    if (!reading.stats().reading) throw new Error('usage cannot be read');
  },
  ledger: () => ledger.check(),
});

/** An unreadable file leaves the previous models in service; an unreadable list of served models leaves none. */
const modelsInService = (catalog: Billable['catalog']): void => {
  try {
    catalog.list();
  } catch (error) {
    if (asApiError(error).kind !== 'engine_unreachable') throw error;
  }
};

const renders = ({ kind }: Needing): boolean => kind === 'video' || kind === 'music';

/**
 * Only requests may show that a replica has recovered: one that may be tried counts as available, or a gateway without
 * traffic would never become ready again.
 */
const someEngine = (models: readonly Needing[], engines: Billable['engines']): void => {
  const [health, stats] = [engines.health(), engines.stats()];
  const mayAnswer = ({ engine }: Needing): boolean =>
    health[engine] === 'ok' || stats.get(engine)?.replicas.some(({ circuit }) => circuit !== 'open') === true;
  if (models.length > 0 && !models.some(mayAnswer)) throw new Error('all are down');
};
