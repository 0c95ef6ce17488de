/** The parts of a process in; what its readiness asks of them out. */
import type { Model } from '../../schemas/catalog.ts';
import { asApiError } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engine.ts';
import type { Reading } from '../ports/events.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import type { UsageLog } from '../ports/usage.ts';
import type { Question } from './readiness.ts';

type Questions = Readonly<Record<string, Question>>;

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

/** Can it take billable work: know who asks, keep what is used, and have a model answer. */
export const gatewayQuestions = ({ state, usage, catalog, engines }: Billable): Questions => ({
  storage: () => state.check(),
  usage: () => usage.ensureOpen(),
  catalog: () => modelsInService(catalog),
  engines: () => someEngine(catalog.inService(), engines),
});

/** Can it take a job: read and write its record, keep its output, and bill it. */
export const workerQuestions = (parts: Billable & { readonly blobs: Pick<Blobs, 'check'> }): Questions => ({
  ...gatewayQuestions(parts),
  engines: () => someEngine(parts.catalog.inService().filter(renders), parts.engines),
  files: () => parts.blobs.check(),
});

/** Can it count: read from Kafka, and write to the ledger. */
export const billingQuestions = (
  reading: Pick<Reading, 'stats'>,
  ledger: Pick<Ledger, 'check'>,
): Questions => ({
  kafka: () => {
    if (!reading.stats().reading) throw new Error('usage cannot be read');
  },
  ledger: () => ledger.check(),
});

/** A lost file leaves the models in service; a lost served list does not. */
const modelsInService = (catalog: Billable['catalog']): void => {
  try {
    catalog.list();
  } catch (error) {
    if (asApiError(error).kind !== 'engine_unreachable') throw error;
  }
};

const renders = ({ kind }: Needing): boolean => kind === 'video' || kind === 'music';

/**
 * A replica comes back by answering, and may have only clients to ask it: one that may be tried counts as there, or a
 * gateway that gets no work for want of engines would never get any.
 */
const someEngine = (models: readonly Needing[], engines: Billable['engines']): void => {
  const [health, stats] = [engines.health(), engines.stats()];
  const mayAnswer = ({ engine }: Needing): boolean =>
    health[engine] === 'ok' || stats.get(engine)?.replicas.some(({ circuit }) => circuit !== 'open') === true;
  if (models.length > 0 && !models.some(mayAnswer)) throw new Error('all are down');
};
