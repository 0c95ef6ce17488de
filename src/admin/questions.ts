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

export interface Billable {
  readonly state: Pick<State, 'check'>;
  readonly usage: Pick<UsageLog, 'ensureOpen'>;
  readonly catalog: Pick<Catalog, 'list'>;
  readonly engines: Pick<Engines, 'health'>;
  /** Those whose engines it needs, private ones too. */
  readonly models: () => readonly Pick<Model, 'engine'>[];
}

/** Can it take billable work: know who asks, keep what is used, and have a model answer. */
export const gatewayQuestions = ({ state, usage, catalog, engines, models }: Billable): Questions => ({
  storage: () => state.check(),
  usage: () => usage.ensureOpen(),
  catalog: () => modelsInService(catalog),
  engines: () => someEngine(models(), engines.health()),
});

/** Can it take a job: read and write its record, keep its output, and bill it. */
export const workerQuestions = (parts: Billable & { readonly blobs: Pick<Blobs, 'check'> }): Questions => ({
  ...gatewayQuestions(parts),
  files: () => parts.blobs.check(),
});

/** Can it count: read from Kafka, and write to the ledger. */
export const billingQuestions = (
  reading: Pick<Reading, 'figures'>,
  ledger: Pick<Ledger, 'check'>,
): Questions => ({
  kafka: () => {
    if (!reading.figures().reading) throw new Error('usage cannot be read');
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

const someEngine = (
  models: readonly Pick<Model, 'engine'>[],
  health: ReturnType<Engines['health']>,
): void => {
  if (models.length > 0 && models.every(({ engine }) => health[engine] !== 'ok'))
    throw new Error('all are down');
};
