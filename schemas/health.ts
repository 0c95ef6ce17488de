/** GET /health: the state of the gateway and its services. */
import Type, { type Static } from 'typebox';

const Check = Type.Enum(['ok', 'degraded', 'down']);

export const Health = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded']),
    version: Type.String(),
    time: Type.Integer({ description: 'Unix seconds' }),
    checks: Type.Object({ catalog: Check, engines: Check, storage: Check }),
  },
  { title: 'Health' },
);
export type Health = Static<typeof Health>;
