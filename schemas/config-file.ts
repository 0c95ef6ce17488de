/** `sluice.yaml`: the engines behind the gateway and the models it offers. */
import Type, { type Static } from 'typebox';
import { ModelKind, ModelRow } from './catalog.ts';
import { EngineRow } from './engines.ts';
import { Closed, Described } from './shapes.ts';

const ModelId = Type.String({ minLength: 1 });

export const ConfigFile = Closed({
  engines: Described(
    Type.Optional(Type.Record(Type.String(), EngineRow)),
    'By name. The engine named `simulator` is built in and needs no row',
  ),
  models: Described(Type.Record(Type.String(), ModelRow), 'By id, in the order of every list'),
  defaults: Described(
    Type.Optional(Type.Partial(Type.Record(ModelKind, ModelId), { additionalProperties: false })),
    'The model of each kind used when a request names none',
  ),
  served_list: Described(
    Type.Optional(Type.String({ minLength: 1 })),
    'File of ids, one a line, that a deployer keeps: only these are served. Relative to this file',
  ),
});
export type ConfigFile = Static<typeof ConfigFile>;
