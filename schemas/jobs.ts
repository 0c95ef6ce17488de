/** Records of video and music jobs and of render slots in the State port. */
import Type, { type Static } from 'typebox';
import { Nullable } from './shapes.ts';

const JobStatus = Type.Enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'], {
  description: 'Where it is',
});

export const JobOutput = Type.Object({
  index: Type.Integer(),
  blob: Type.String(),
  media_type: Type.String(),
  size_bytes: Type.Integer(),
  /** Actual seconds. */
  duration: Type.Number(),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
  fps: Type.Optional(Type.Number()),
  /** Whether it has sound. */
  audio: Type.Optional(Type.Boolean()),
});
export type JobOutput = Static<typeof JobOutput>;

/** What is reserved of a budget until the job has ended. */
export const JobClaim = Type.Object({
  /** Of the budget in one of its periods, which is from `start` to before `end`; null: for ever. */
  name: Type.String(),
  limit: Type.Integer(),
  start: Type.Integer(),
  end: Nullable(Type.Integer()),
  /** Billionths of a US dollar. */
  amount: Type.Integer(),
});
export type JobClaim = Static<typeof JobClaim>;

/** Times are Unix milliseconds. */
export const JobRecord = Type.Object({
  id: Type.String({ description: '`video_…` or `music_…`' }),
  type: Type.Enum(['video', 'music'], { description: 'What it renders' }),
  subscription: Type.String({ description: 'Id' }),
  key: Type.String({ description: 'Id of the key that it was made with' }),
  request_id: Type.String({ description: 'Of the request that made it' }),
  model: Type.String({ description: 'Id' }),
  status: JobStatus,
  created: Type.Integer({ description: 'Unix milliseconds' }),
  started: Nullable(Type.Integer({ description: 'Unix milliseconds; null: not yet' })),
  ended: Nullable(Type.Integer({ description: 'Unix milliseconds; null: not yet' })),
  /** When the outputs are deleted; set at completion. */
  expires: Nullable(Type.Integer()),
  /** How long the render is expected to take. */
  expected_ms: Type.Integer(),
  /** Progress that the renderer last reported, 0 to 1. */
  done: Type.Number(),
  /** The engine call: a `RenderCall`. */
  call: Type.Unknown(),
  /** The client's request, as its record shows it. */
  request: Type.Record(Type.String(), Type.Unknown()),
  /** Seconds that are billed when it completes, and what one costs. */
  billed_seconds: Type.Integer(),
  price: Type.Record(Type.String(), Type.String()),
  cost: Nullable(Type.String({ description: 'Dollars, an exact decimal; null: nothing was billed' })),
  /** Of the budgets that it is billed to. */
  claims: Type.Optional(Type.Array(JobClaim)),
  /** Whether it can be played while it renders. */
  progressive: Type.Boolean(),
  outputs: Type.Array(JobOutput),
  error: Nullable(Type.String({ description: 'Why it failed' })),
  error_code: Nullable(Type.String({ description: 'The same for programs' })),
  callback_url: Nullable(Type.String()),
  attempts: Type.Integer({ description: 'How often a worker has begun it' }),
  /** Whose render it is, or was at the end: the claim of a worker, a new one for each beginning. */
  worker: Nullable(Type.String()),
  /** Id of the slot it is rendered in: the worker that takes over the slot takes over the job. */
  slot: Type.Optional(Type.String()),
  /** Place in the queue of its model: when it came, with fractions, so that no two of one process are the same. */
  queued: Type.Optional(Type.Number()),
  /** When the status changed last. */
  moved: Type.Optional(Type.Integer()),
  /** Whether all that follows from the last status has happened: charge, delivery, clearing up. Absent while it is open. */
  settled: Type.Optional(Type.Boolean()),
  /** How often its worker died. */
  lapses: Type.Optional(Type.Integer()),
  /** Its samples are deleted. */
  samples_gone: Type.Optional(Type.Boolean()),
  /** Row of the engine at creation, for the usage event. */
  engine: Type.Optional(Type.String()),
  /** What links in its deliveries start with. */
  public_url: Type.Optional(Type.String()),
});
export type JobRecord = Static<typeof JobRecord>;

/** Kind `render-slot`, id `<model>#<number>`: there while something renders in it. Times are Unix milliseconds. */
export const SlotRecord = Type.Object({
  model: Type.String(),
  job: Type.String(),
  /** The claim of the worker that holds it. */
  claim: Type.String(),
  /** Unless it is renewed by then, other workers take it over. */
  until: Type.Integer(),
  /** Released in a shutdown, for other workers to continue. */
  released: Type.Boolean(),
});
export type SlotRecord = Static<typeof SlotRecord>;

/** Kind `render-model`: a model with jobs. Workers serve these even when the catalog no longer has them. */
export const RenderModelRecord = Type.Object({
  type: Type.Enum(['video', 'music']),
  model: Type.String(),
});
export type RenderModelRecord = Static<typeof RenderModelRecord>;

/** A job was made or changed its state: what the `jobs` topic carries, keyed by the job. Version 1. */
export const JobEvent = Type.Object({
  schema: Type.Literal(1),
  id: Type.String(),
  type: Type.Enum(['video', 'music']),
  subscription: Type.String(),
  model: Type.String(),
  status: JobStatus,
  /** How often it was begun. */
  attempts: Type.Integer(),
  /** Unix milliseconds when the status changed. */
  time: Type.Integer(),
  /** The process that sent it. */
  sender: Type.String(),
});
export type JobEvent = Static<typeof JobEvent>;
