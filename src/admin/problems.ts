/** What is wrong with a model or an engine now, in sentences for operators. */
import type { AdminEngine, AdminReplica } from '../../schemas/admin/engines.ts';
import type { Model } from '../../schemas/catalog.ts';

type Engine = Pick<AdminEngine, 'health' | 'discovery' | 'replicas'> & { readonly hasRow: boolean };

export const engineProblems = ({ health, discovery, replicas, hasRow }: Engine): string[] => [
  ...(discovery === null ? [] : [`Its replicas cannot be asked for, so the known ones stay: ${discovery}`]),
  ...(hasRow && replicas.length === 0 ? ['It has no replicas'] : []),
  ...(health === 'down' && replicas.length > 0 ? ['None of its replicas takes calls'] : []),
  ...replicas.flatMap(replicaProblems),
];

const replicaProblems = (replica: AdminReplica): string[] => {
  const { url, alias, circuit, open_since, cooldown_ms, last_error, drained } = replica;
  const name = `Replica ${alias} (${url})`;
  const found = drained ? [`${name} was drained by an operator and gets no calls`] : [];
  if (circuit === 'closed') return found;
  const since = open_since === null ? '' : ` since ${new Date(open_since).toISOString()}`;
  const next = circuit === 'open' ? `a trial call in ${cooldown_ms} ms` : 'the next call is a trial';
  const cause = last_error === null ? '' : `; the last error was: ${last_error.message}`;
  return [...found, `${name}: its circuit is ${circuit}${since}, ${next}${cause}`];
};

interface Served {
  readonly isInService: boolean;
  /** Undefined: its engine is missing. */
  readonly health: 'ok' | 'down' | undefined;
}

export const modelProblems = (model: Model, { isInService, health }: Served): string[] => [
  ...(isInService ? [] : [notServed(model)]),
  ...(health === undefined ? [`Its engine "${model.engine}" is missing`] : []),
  ...(health === 'down' ? [`None of the replicas of its engine "${model.engine}" takes calls`] : []),
  ...(isFree(model) ? ['It has no price: requests cost nothing'] : []),
];

const notServed = ({ served, kind }: Model): string =>
  served
    ? `It is not served: the served list does not name it, or its capabilities are not those of kind ${kind}`
    : 'It is not served: its row has served: false';

/** Some kinds are billed by what their capabilities say. */
const isFree = ({ pricing, kind }: Model): boolean =>
  kind !== 'video' && Object.values(pricing).every((price) => Number(price) === 0);
