/** Renders a job as clients read it: plain, or in the format of OpenAI's clients. */
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import type { JobView } from '../ports/jobs.ts';

/** To be written by `jsonText`: a seed may be a bigint. */
export type JobJson = Readonly<Record<string, unknown>>;
export type Rendering = 'plain' | 'openai';

/** `publicUrl` ends in `/v1`. */
export const plainRecord = (view: JobView, publicUrl: string): JobJson =>
  renderRecord(view, publicUrl, 'plain');

/** The two differ in the status of a pending job, and in the fields of a failure. */
export const renderRecord = (view: JobView, publicUrl: string, rendering: Rendering): JobJson =>
  view.job.type === 'video' ? videoRecord(view, publicUrl, rendering) : musicRecord(view, publicUrl);

const videoRecord = (view: JobView, publicUrl: string, rendering: Rendering): JobJson => {
  const { job } = view;
  const { prompt, duration, fps, ...asked } = askedFields(job);
  const [output] = job.outputs;
  return {
    ...commonFields(view, publicUrl),
    ...(rendering === 'openai' && job.status === 'pending' ? { status: 'queued' } : {}),
    prompt,
    seconds: String(duration),
    duration,
    ...asked,
    ...(job.status === 'completed' && output !== undefined ? { output: outputFacts(output, fps) } : {}),
    ...resultFields(job, publicUrl),
    ...(rendering === 'openai' ? openAiFailure(job) : failureFields(job)),
    remixed_from_video_id: null,
    generation_id: job.request_id,
  };
};

/** Records from before outputs were looked at have the rate of the request. */
const outputFacts = ({ duration, width, height, fps, audio }: JobOutput, asked: unknown): JobJson => ({
  duration,
  width,
  height,
  fps: fps ?? asked,
  ...(audio === undefined ? {} : { audio }),
});

const musicRecord = (view: JobView, publicUrl: string): JobJson => {
  const { job } = view;
  const isOpen = job.status === 'pending' || job.status === 'in_progress';
  return {
    ...commonFields(view, publicUrl),
    ...askedFields(job),
    ...(isOpen && job.progressive ? { stream_url: `${jobUrl(job, publicUrl)}/stream` } : {}),
    ...(job.status === 'completed'
      ? { outputs: job.outputs.map((output) => outputRecord(job, output, publicUrl)) }
      : {}),
    ...resultFields(job, publicUrl),
    ...failureFields(job),
  };
};

/** A seed that is kept as text is written as the integer it is. */
const askedFields = ({ request }: JobRecord): JobJson =>
  typeof request.seed === 'string' ? { ...request, seed: BigInt(request.seed) } : request;

const commonFields = ({ job, queuePosition, progress }: JobView, publicUrl: string): JobJson => ({
  id: job.id,
  object: job.type,
  model: job.model,
  status: job.status,
  polling_url: jobUrl(job, publicUrl),
  progress,
  ...(job.status === 'pending' ? { queue_position: queuePosition ?? 0 } : {}),
  created_at: seconds(job.created),
  started_at: seconds(job.started),
  completed_at: isRendered(job) ? seconds(job.ended) : null,
  expires_at: seconds(job.expires),
});

/** Absent rather than null: there are clients that refuse a null here. */
const resultFields = (job: JobRecord, publicUrl: string): JobJson => ({
  ...(job.status === 'completed'
    ? { unsigned_urls: job.outputs.map(({ index }) => contentUrl(job, index, publicUrl)) }
    : {}),
  ...(isRendered(job)
    ? { usage: { billed_seconds: job.billed_seconds, cost: Number(job.cost ?? 0), is_byok: false } }
    : {}),
});

const failureFields = ({ status, error, error_code }: JobRecord): JobJson =>
  status === 'failed'
    ? { error: error ?? 'The render failed', error_code: error_code ?? 'render_failed' }
    : {};

const openAiFailure = (job: JobRecord): JobJson => {
  const { error, error_code } = failureFields(job);
  return error === undefined ? { error: null } : { error: { code: error_code, message: error }, error_code };
};

const outputRecord = (job: JobRecord, output: JobOutput, publicUrl: string): JobJson => ({
  index: output.index,
  url: contentUrl(job, output.index, publicUrl),
  duration: output.duration,
  media_type: output.media_type,
  size_bytes: output.size_bytes,
});

/** Rendered and billed; its outputs may have expired. */
const isRendered = ({ status }: JobRecord): boolean => status === 'completed' || status === 'expired';

const jobUrl = ({ type, id }: JobRecord, publicUrl: string): string =>
  `${publicUrl}/${type === 'video' ? 'videos' : 'music'}/${id}`;

const contentUrl = (job: JobRecord, index: number, publicUrl: string): string =>
  `${jobUrl(job, publicUrl)}/content?index=${index}`;

/** Unix milliseconds → Unix seconds. */
const seconds = (milliseconds: number | null): number | null =>
  milliseconds === null ? null : Math.floor(milliseconds / 1000);
