/** The state of a gateway in the admin API. */
import Type, { type Static } from 'typebox';
import { Titled } from '../shapes.ts';
import { RequestCounts } from './requests.ts';

const Process = Type.Object({
  pid: Type.Integer({ description: 'Process id' }),
  uptime_seconds: Type.Integer({ minimum: 0, description: 'Since its start' }),
  memory_bytes: Type.Integer({ minimum: 0, description: 'Resident set size' }),
  requests: RequestCounts,
});

const service = (name: string) => Type.Boolean({ description: `${name} is configured` });

export const AdminStatus = Titled('AdminStatus', {
  object: Type.Literal('status', { description: '`status`' }),
  version: Type.String({ description: 'Of the HTTP contract' }),
  public_url: Type.String({ description: 'Base URL for clients, ending in `/v1`' }),
  ready: Type.Boolean({ description: 'It should get traffic' }),
  unready: Type.Array(Type.String(), { description: 'Why it should get no traffic' }),
  problems: Type.Array(Type.String(), {
    description: 'What is wrong although it gets traffic: a `sluice.yaml` that was refused',
  }),
  services: Type.Object(
    {
      redis: service('Redis'),
      kafka: service('Kafka'),
      clickhouse: service('ClickHouse'),
      qdrant: service('Qdrant'),
      s3: service('S3'),
    },
    { description: 'Used instead of the embedded stores' },
  ),
  models: Type.Integer({ minimum: 0, description: 'Models in service' }),
  engines: Type.Object(
    {
      up: Type.Integer({ minimum: 0, description: 'How many can be called' }),
      down: Type.Array(Type.String(), { description: 'Names of those that cannot' }),
    },
    { description: 'Those of the catalog and the simulator' },
  ),
  requests: RequestCounts,
  processes: Type.Array(Process, { description: 'One for each gateway process' }),
});
export type AdminStatus = Static<typeof AdminStatus>;
