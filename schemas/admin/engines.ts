/** Models and engines in the admin API. */
import Type, { type Static } from 'typebox';
import { Closed, listFields, Nullable, Titled } from '../shapes.ts';

const Health = Type.Enum(['ok', 'down'], { description: '`down`: no replica of the engine takes calls' });
const Problems = Type.Array(Type.String(), { description: 'What is wrong now, a sentence each' });
const counted = (description: string) => Type.Integer({ minimum: 0, description });

const model = {
  id: Type.String({ description: 'As requests name it' }),
  object: Type.Literal('model', { description: '`model`' }),
  kind: Type.String({ description: '`chat`, `embedding`, `image` …' }),
  engine: Type.String({ description: 'Row of `engines` that serves it' }),
  health: Health,
  private: Type.Boolean({ description: 'In no public list' }),
  context_length: Type.Optional(Type.Integer({ description: 'Tokens' })),
  pricing: Type.Unknown({ description: 'Dollars per unit, exact decimals' }),
  limits: Type.Unknown({ description: 'Those of the catalog' }),
  problems: Problems,
};

export const AdminModel = Titled('AdminModel', model);
export type AdminModel = Static<typeof AdminModel>;
export const AdminModelList = Titled('AdminModelList', listFields(AdminModel));

export const AdminModelDetail = Titled('AdminModelDetail', {
  ...model,
  in_service: Type.Boolean({ description: 'Requests are answered by it' }),
  row: Type.Unknown({ description: 'Its row of `sluice.yaml` with every default' }),
});
export type AdminModelDetail = Static<typeof AdminModelDetail>;

const Prefix = Type.Object(
  {
    blocks: counted('Blocks of 512 bytes of the prompts that were routed by prefix, since the start'),
    matched: counted('Those that the chosen replica had seen before'),
    hit_rate: Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Null: there were no blocks' })),
  },
  { description: 'How well prompts were routed to where their start is cached' },
);
export type Prefix = Static<typeof Prefix>;

export const AdminReplica = Type.Object({
  url: Type.String({ description: 'Its base address' }),
  alias: Type.String({ description: 'What clients and logs call it' }),
  circuit: Type.Enum(['closed', 'open', 'half-open'], {
    description: '`open`: it gets no calls; `half-open`: one trial call at a time',
  }),
  open_since: Nullable(
    Type.Integer({ description: 'Unix milliseconds when its circuit opened; null: it is closed' }),
  ),
  cooldown_ms: counted('Milliseconds until a trial call; 0 while the circuit is not open'),
  last_error: Nullable(
    Type.Object(
      {
        time: Type.Integer({ description: 'Unix milliseconds' }),
        message: Type.String({ description: 'What failed' }),
      },
      { description: 'The last failure that counted for its circuit; null: none since the start' },
    ),
  ),
  in_flight: counted('Calls that run on it'),
  drained: Type.Boolean({ description: 'Taken out by an operator: it gets no more calls' }),
  weight: Type.Number({ description: 'As configured: calls are distributed in proportion to it' }),
  share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Part of its weight that counts now: less than 1 during slow start',
  }),
  prefix: Prefix,
});
export type AdminReplica = Static<typeof AdminReplica>;

const engine = {
  id: Type.String({ description: 'Name of its row' }),
  object: Type.Literal('engine', { description: '`engine`' }),
  health: Health,
  waiting: counted('Calls that wait for a replica'),
  discovery: Nullable(
    Type.String({ description: 'Why its replicas cannot be asked for now; null: they can, or are listed' }),
  ),
  retries: Type.Object(
    { made: counted('That were made'), refused: counted('That the retry budget did not allow') },
    { description: 'Calls repeated on another replica, since the start' },
  ),
  continuations: Type.Object(
    { made: counted('That went on elsewhere'), failed: counted('That could not') },
    { description: 'Streams that a replica broke off, since the start' },
  ),
  prefix: Prefix,
  replicas: Type.Array(AdminReplica, { description: 'None of an engine inside the gateway' }),
  problems: Problems,
};

export const AdminEngine = Titled('AdminEngine', engine);
export type AdminEngine = Static<typeof AdminEngine>;
export const AdminEngineList = Titled('AdminEngineList', listFields(AdminEngine));
export type AdminEngineList = Static<typeof AdminEngineList>;

export const AdminEngineDetail = Titled('AdminEngineDetail', {
  ...engine,
  models: Type.Array(Type.String(), { description: 'Ids of the models that it serves' }),
  row: Nullable(
    Type.Unknown({
      description:
        'Its row of `sluice.yaml` with every default, values of headers hidden; null: it needs none',
    }),
  ),
});
export type AdminEngineDetail = Static<typeof AdminEngineDetail>;

export const DrainReplica = Closed({
  replica: Type.String({ minLength: 1, maxLength: 2000, description: 'Its `url`' }),
});

export const CatalogReloaded = Titled('CatalogReloaded', {
  object: Type.Literal('catalog', { description: '`catalog`' }),
  models: counted('Models in service'),
});
