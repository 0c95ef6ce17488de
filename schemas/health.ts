/** GET /health: the state of the gateway and its services. */
import Type, { type Static } from 'typebox';
import { Titled } from './shapes.ts';

const Check = (description: string) => Type.Enum(['ok', 'degraded', 'down'], { description });

export const Health = Titled('Health', {
  status: Type.Enum(['ok', 'degraded'], { description: 'degraded: something is wrong, requests still work' }),
  version: Type.String({ description: 'Version of the API' }),
  time: Type.Integer({ description: 'Unix seconds' }),
  checks: Type.Object({
    catalog: Check('Whether the list of models can be read'),
    engines: Check('Whether the engines of served models respond'),
    storage: Check('Whether records, files and vectors can be reached'),
  }),
});
export type Health = Static<typeof Health>;
