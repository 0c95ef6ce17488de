/** Models and engines in the admin API. */
import Type, { type Static } from 'typebox';
import { Closed, Count, listFields, Titled } from '../shapes.ts';

const Health = Type.Enum(['ok', 'down']);

export const AdminModel = Titled('AdminModel', {
  id: Type.String(),
  object: Type.Literal('model'),
  kind: Type.String(),
  engine: Type.String(),
  health: Health,
  private: Type.Boolean(),
  context_length: Type.Optional(Type.Integer()),
  pricing: Type.Unknown({ description: 'Dollars per unit, exact decimals' }),
  limits: Type.Unknown({ description: 'Those of the catalog' }),
});
export const AdminModelList = Titled('AdminModelList', listFields(AdminModel));

export const AdminReplica = Type.Object({
  url: Type.String(),
  alias: Type.String({ description: 'What clients and logs call it' }),
  circuit: Type.Enum(['closed', 'open', 'half-open']),
  in_flight: Type.Integer({ minimum: 0, description: 'Calls that run on it' }),
  drained: Type.Boolean({ description: 'Taken out by an operator: it gets no more calls' }),
});

export const AdminEngine = Titled('AdminEngine', {
  id: Type.String(),
  object: Type.Literal('engine'),
  health: Health,
  waiting: Count,
  replicas: Type.Array(AdminReplica, { description: 'None of an engine inside the gateway' }),
});
export type AdminEngine = Static<typeof AdminEngine>;
export const AdminEngineList = Titled('AdminEngineList', listFields(AdminEngine));
export type AdminEngineList = Static<typeof AdminEngineList>;

export const DrainReplica = Closed({
  replica: Type.String({ minLength: 1, maxLength: 2000, description: 'Its `url`' }),
});

export const CatalogReloaded = Titled('CatalogReloaded', {
  object: Type.Literal('catalog'),
  models: Count,
});
