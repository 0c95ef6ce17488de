/** Routes of video and music jobs, and of links to stored files. */
import Type, { type TSchema } from 'typebox';
import {
  createMusicExamples,
  createVideoExamples,
  musicExamples,
  videoExamples,
} from '../../schemas/examples/jobs.ts';
import { DeletedMusic, MusicJob, MusicList, MusicModels, MusicRequest } from '../../schemas/music.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { ListQuery } from '../../schemas/render.ts';
import {
  DeletedVideo,
  VideoForm,
  VideoJob,
  VideoList,
  VideoModels,
  VideoRequest,
} from '../../schemas/videos.ts';
import type { Pipeline } from '../../src/ports/exchange.ts';
import type { JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { mediaBodyLimit, type Route } from '../route.ts';
import { blobLink, jobContent } from './content.ts';
import { jobGet, jobList, jobRemove } from './jobs.ts';
import { musicCreate, musicModels, musicStream } from './music.ts';
import { videosCreate, videosModels } from './videos.ts';

const binary = Type.String({ format: 'binary' });
const createErrors = [400, 404, 413, 429, 503];
const outputErrors = [400, 404, 409, 503];

const SongQuery = Type.Object({
  index: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of the song among the outputs; 0 by default' }),
  ),
});

export const jobsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/videos',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'video', videosCreate(ports)),
    doc: {
      tag: 'Videos',
      summary: 'Create a video',
      description:
        'Starts rendering and responds at once with the job. Poll `polling_url`, or give a `callback_url` to be called when it ends. Guide it by a prompt alone, by its first and last frame, or by reference media. A field that the model does not take is a 400 `unsupported_parameter`. Billed by the seconds requested when the job completes, times the factors of quality and resolution; jobs that fail or are cancelled are not billed.',
      examples: createVideoExamples,
      body: { 'application/json': VideoRequest, 'multipart/form-data': VideoForm },
      status: 202,
      response: json(VideoJob),
      errors: createErrors,
    },
  },
  ...sharedRoutes(ports, {
    type: 'video',
    path: '/videos',
    tag: 'Videos',
    models: videosModels(ports),
    outputs: 'video',
    schemas: { job: VideoJob, list: VideoList, deleted: DeletedVideo, models: VideoModels },
    examples: videoExamples,
    content: {
      summary: 'Download a video',
      description:
        'The bytes of a finished video as MP4. Takes `Range`. 409 before it is finished, 404 once it has expired.',
      query: Type.Object({
        index: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of the output; 0 by default' })),
        variant: Type.Optional(Type.Enum(['video'], { description: 'There are no other variants' })),
      }),
      response: { 'video/mp4': binary },
    },
  }),
  {
    method: 'POST',
    path: '/music',
    bodyLimit: 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'music', musicCreate(ports)),
    doc: {
      tag: 'Music',
      summary: 'Create music',
      description:
        'Starts rendering songs and responds at once with the job. Poll `polling_url`, give a `callback_url`, or listen at `stream_url` while it renders. Billed by the seconds requested, for each song, when the job completes; jobs that fail or are cancelled are not billed.',
      examples: createMusicExamples,
      body: json(MusicRequest),
      status: 202,
      response: json(MusicJob),
      errors: createErrors,
    },
  },
  ...sharedRoutes(ports, {
    type: 'music',
    path: '/music',
    tag: 'Music',
    models: musicModels(ports),
    outputs: 'songs',
    schemas: { job: MusicJob, list: MusicList, deleted: DeletedMusic, models: MusicModels },
    examples: musicExamples,
    content: {
      summary: 'Download a song',
      description:
        'The bytes of a finished song in the requested format. Takes `Range`. 409 before it is finished, 404 once it has expired.',
      query: SongQuery,
      response: { 'audio/mpeg': binary, 'audio/wav': binary, 'audio/flac': binary, 'audio/ogg': binary },
    },
  }),
  {
    method: 'GET',
    path: '/music/{id}/stream',
    pipeline: musicStream(ports),
    doc: {
      tag: 'Music',
      summary: 'Listen to a song while it renders',
      description:
        'The song as WAV from its beginning, on models with `streaming.progressive`, whatever format was requested. The header promises the requested length, which is the most it can have. The stream ends with the song and does not say why: read the job afterwards. If rendering starts over, the stream is cut; connect again. It is kept for 10 minutes after its end; then, and on other models, 409.',
      params: jobId('music'),
      query: SongQuery,
      response: { 'audio/wav': binary },
      errors: outputErrors,
    },
  },
  {
    method: 'GET',
    path: '/blobs/{name+}',
    access: 'public',
    pipeline: blobLink(ports),
    doc: {
      tag: 'Files',
      summary: 'Download a linked file',
      description:
        'A generated file by the link that a response has for it, unchanged. Needs no key: the signature and the time in the link are enough. Takes `Range`. 404 once the link has expired.',
      params: Type.Object({
        name: Type.String({
          description: 'Name of the file, out of the link',
          examples: ['images/img_4201052074734691a211ca0a04657526.png'],
        }),
      }),
      ranges: true,
      query: Type.Object({
        expires: Type.String({
          description: 'Unix seconds at which the link expires',
          examples: ['1794735772'],
        }),
        signature: Type.String({
          description: 'Signature of the link; an altered link is invalid',
        }),
      }),
      response: { 'application/octet-stream': binary },
      errors: [404, 503],
    },
  },
];

const sampleIds: Readonly<Record<JobType, string>> = {
  video: 'video_bce302be6b1f1ed648e29c60',
  music: 'music_45fd76ca0bbad186bdc5da86',
};

const jobId = (type: JobType) =>
  Type.Object({ id: Type.String({ description: `Id of a ${type} job`, examples: [sampleIds[type]] }) });

/** What differs between the jobs of videos and those of music. */
interface JobFamily {
  readonly type: JobType;
  readonly path: string;
  readonly tag: string;
  readonly models: Pipeline;
  /** What a finished job has, as in `delete … with its …`. */
  readonly outputs: string;
  readonly schemas: Readonly<Record<'job' | 'list' | 'deleted' | 'models', TSchema>>;
  readonly examples: Readonly<
    Record<'list' | 'get' | 'remove' | 'models', NonNullable<RouteDoc['examples']>>
  >;
  readonly content: Pick<RouteDoc, 'summary' | 'description' | 'query' | 'response'>;
}

const sharedRoutes = (
  ports: Ports,
  { type, path, tag, models, outputs, schemas, examples, content }: JobFamily,
): readonly Route[] => [
  {
    method: 'GET',
    path,
    pipeline: jobList(ports, type),
    doc: {
      tag,
      summary: `List ${type} jobs`,
      description: `The ${type} jobs of the subscription, newest first unless \`order\` says otherwise.`,
      query: ListQuery,
      examples: examples.list,
      response: json(schemas.list),
      errors: [400, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/models`,
    pipeline: models,
    doc: {
      tag,
      summary: `List ${type} models`,
      description: `The ${type} models on offer, with what each can render and its price.`,
      examples: examples.models,
      response: json(schemas.models),
      errors: [502, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/{id}`,
    pipeline: jobGet(ports, type),
    doc: {
      tag,
      summary: `Get a ${type} job`,
      description:
        'The job as it is now. A job that fails is no HTTP error: its `status` is `failed`, and `error` says why. Completed jobs expire at `expires_at`, when their outputs are deleted.',
      params: jobId(type),
      examples: examples.get,
      response: json(schemas.job),
      errors: [404, 503],
    },
  },
  {
    method: 'DELETE',
    path: `${path}/{id}`,
    pipeline: jobRemove(ports, type),
    doc: {
      tag,
      summary: `Cancel or delete a ${type} job`,
      description: `Cancels a job that has not ended, and returns it; it is not billed, and a render stops within about 10 seconds. Deletes a job that has ended, with its ${outputs}. 409 when it changed meanwhile: read it again.`,
      params: jobId(type),
      examples: examples.remove,
      response: json(Type.Union([schemas.deleted, schemas.job])),
      errors: [404, 409, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/{id}/content`,
    pipeline: jobContent(ports, type),
    doc: { tag, ranges: true, params: jobId(type), ...content, errors: outputErrors },
  },
];
