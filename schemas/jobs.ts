/** A video or music job as the State port keeps it: kind `job`, id `video_…` or `music_…`. */
import Type, { type Static } from 'typebox';

export const JobStatus = Type.Enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired']);
export type JobStatus = Static<typeof JobStatus>;

export const JobOutput = Type.Object({
  index: Type.Integer(),
  blob: Type.String(),
  media_type: Type.String(),
  size_bytes: Type.Integer(),
  /** True seconds. */
  duration: Type.Number(),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
});
export type JobOutput = Static<typeof JobOutput>;

/** Times are Unix milliseconds. */
export const JobRecord = Type.Object({
  id: Type.String(),
  type: Type.Enum(['video', 'music']),
  subscription: Type.String(),
  key: Type.String(),
  request_id: Type.String(),
  model: Type.String(),
  status: JobStatus,
  created: Type.Integer(),
  started: Type.Union([Type.Integer(), Type.Null()]),
  ended: Type.Union([Type.Integer(), Type.Null()]),
  /** When the outputs are deleted; set at completion. */
  expires: Type.Union([Type.Integer(), Type.Null()]),
  /** How long the render is expected to take. */
  expected_ms: Type.Integer(),
  /** What the renderer last said, 0 to 1. */
  done: Type.Number(),
  /** What the engine is asked: a `RenderCall`. */
  call: Type.Unknown(),
  /** What the client asked for, as its record shows it. */
  request: Type.Record(Type.String(), Type.Unknown()),
  /** Seconds that are billed when it completes, and what one costs. */
  billed_seconds: Type.Integer(),
  price: Type.Record(Type.String(), Type.String()),
  cost: Type.Union([Type.String(), Type.Null()]),
  /** Whether its sound can be heard while it renders. */
  progressive: Type.Boolean(),
  outputs: Type.Array(JobOutput),
  error: Type.Union([Type.String(), Type.Null()]),
  error_code: Type.Union([Type.String(), Type.Null()]),
  callback_url: Type.Union([Type.String(), Type.Null()]),
  /** How often a worker has begun it. */
  attempts: Type.Integer(),
  /** Who renders it now. */
  worker: Type.Union([Type.String(), Type.Null()]),
});
export type JobRecord = Static<typeof JobRecord>;
