/** GET /health: the state of the gateway and its services. */
import Type, { type Static } from 'typebox';
import { Titled } from './shapes.ts';

const Check = Type.Enum(['ok', 'degraded', 'down']);

export const Health = Titled('Health', {
  status: Type.Enum(['ok', 'degraded']),
  version: Type.String(),
  time: Type.Integer({ description: 'Unix seconds' }),
  checks: Type.Object({ catalog: Check, engines: Check, storage: Check }),
});
export type Health = Static<typeof Health>;
