/** `sluice.yaml`: the engines behind the gateway and the models it offers. */
import Type, { type Static } from 'typebox';
import { ModelKind, ModelRow } from './catalog.ts';
import { EngineRow } from './engines.ts';
import { Closed } from './shapes.ts';

const ModelId = Type.String({ minLength: 1 });

export const ConfigFile = Closed({
  /** By name. The engine named `simulator` is built in and needs no row. */
  engines: Type.Optional(Type.Record(Type.String(), EngineRow)),
  /** By id, in the order of every list. */
  models: Type.Record(Type.String(), ModelRow),
  /** The model of each kind used when a request names none. */
  defaults: Type.Optional(Type.Partial(Type.Record(ModelKind, ModelId), { additionalProperties: false })),
  /** File of ids, one a line, that a deployer keeps: only these are served. Relative to this file. */
  served_list: Type.Optional(Type.String({ minLength: 1 })),
});
export type ConfigFile = Static<typeof ConfigFile>;
