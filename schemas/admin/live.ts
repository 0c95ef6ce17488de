/** Snapshots of `GET /live`: what runs now, by request, model and engine. */
import Type, { type Static } from 'typebox';
import { Count, Nullable, Titled } from '../shapes.ts';
import { AdminEngine } from './engines.ts';
import { AdminRequestShape, LogEntry } from './requests.ts';

export const fastestMs = 250;
export const slowestMs = 10_000;
/** Requests of a snapshot, running and ended each. */
export const mostShown = 200;

export const LiveQuery = Type.Object({
  interval: Type.Optional(
    Type.Integer({
      minimum: fastestMs,
      maximum: slowestMs,
      default: 1000,
      description: 'Milliseconds between two snapshots',
    }),
  ),
});

/** Null in the first snapshot: there is none before it. */
const Rate = Nullable(
  Type.Number({
    minimum: 0,
    description: 'Completion tokens per second since the snapshot before; null in the first',
  }),
);

const counts = {
  receiving: Type.Integer({ minimum: 0, description: 'Whose body arrives or is read' }),
  queued: Type.Integer({ minimum: 0, description: 'That wait for a slot of their model' }),
  running: Type.Integer({ minimum: 0, description: 'Of which nothing is sent yet' }),
  streaming: Type.Integer({ minimum: 0, description: 'Whose response is being sent' }),
  slow_readers: Type.Integer({ minimum: 0, description: 'Of those: whose client reads too slowly' }),
};

export const LiveCounts = Type.Object(counts, { description: 'Requests that run now, by state' });
export type LiveCounts = Static<typeof LiveCounts>;

export const LiveModel = Titled('LiveModel', {
  id: Type.String({ description: 'Of the model' }),
  engine: Nullable(Type.String({ description: 'That serves it; null: the model is gone from the catalog' })),
  ...counts,
  tokens_per_second: Rate,
});
export type LiveModel = Static<typeof LiveModel>;

export const LiveEngine = Titled('LiveEngine', { ...AdminEngine.properties, tokens_per_second: Rate });
export type LiveEngine = Static<typeof LiveEngine>;

export const LiveRow = Titled('LiveRequest', { ...AdminRequestShape.properties, tokens_per_second: Rate });
export type LiveRow = Static<typeof LiveRow>;

export const LiveSnapshot = Titled('LiveSnapshot', {
  object: Type.Literal('live.snapshot', { description: '`live.snapshot`' }),
  time: Type.Integer({ description: 'Unix milliseconds' }),
  interval_ms: Type.Integer({ description: 'Milliseconds between two snapshots' }),
  processes: Type.Integer({ minimum: 1, description: 'Gateway processes that it is made of' }),
  counts: LiveCounts,
  tokens_per_second: Rate,
  models: Type.Array(LiveModel, { description: 'Those with requests or tokens now' }),
  engines: Type.Array(LiveEngine, { description: 'All of them' }),
  requests: Type.Array(LiveRow, {
    maxItems: mostShown,
    description: 'The newest first; `counts` has how many there are in all',
  }),
  ended: Type.Array(LogEntry, {
    maxItems: mostShown,
    description: 'Those that ended since the snapshot before, the oldest first; none in the first snapshot',
  }),
  ended_count: Type.Integer({ minimum: 0, description: 'How many ended since the snapshot before' }),
});
export type LiveSnapshot = Static<typeof LiveSnapshot>;

/** What one process knows at one moment: no rates. `tokens` are all that its models have generated so far. */
export const LivePart = Type.Object({
  time: Type.Integer(),
  processes: Type.Integer(),
  counts: LiveCounts,
  models: Type.Array(
    Type.Object({ id: Type.String(), engine: Nullable(Type.String()), ...counts, tokens: Count }),
  ),
  engines: Type.Array(AdminEngine),
  requests: Type.Array(AdminRequestShape),
  ended: Type.Array(LogEntry),
  ended_count: Count,
  cursor: Type.String(),
});
export type LivePart = Static<typeof LivePart>;
