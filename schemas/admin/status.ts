/** The state of a gateway in the admin API. */
import Type, { type Static } from 'typebox';
import { Count, Titled } from '../shapes.ts';

const Process = Type.Object({
  pid: Type.Integer(),
  uptime_seconds: Count,
  memory_bytes: Count,
  requests: Type.Object({ receiving: Count, queued: Count, running: Count, streaming: Count }),
});

export const AdminStatus = Titled('AdminStatus', {
  object: Type.Literal('status'),
  version: Type.String({ description: 'Of the HTTP contract' }),
  ready: Type.Boolean(),
  unready: Type.Array(Type.String(), { description: 'Why it should get no traffic' }),
  models: Count,
  engines: Type.Object({ up: Count, down: Type.Array(Type.String()) }),
  requests: Process.properties.requests,
  processes: Type.Array(Process),
});
export type AdminStatus = Static<typeof AdminStatus>;
