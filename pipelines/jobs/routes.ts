/** Routes of video and music jobs, and of links to stored files. */
import Type, { type TObject, type TSchema } from 'typebox';
import { DeletedMusic, MusicJob, MusicList, MusicModels, MusicRequest } from '../../schemas/music.ts';
import { type Content, json } from '../../schemas/openapi.ts';
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
      summary: 'Start rendering a video; responds at once with the job',
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
    content: {
      summary: 'The bytes of a finished video; takes Range',
      query: Type.Object({
        index: Type.Optional(Type.Integer({ minimum: 0, description: '0 by default' })),
        variant: Type.Optional(Type.Enum(['video'])),
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
      summary: 'Start rendering music; responds at once with the job',
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
    content: {
      summary: 'The bytes of a finished song; takes Range',
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
      summary: 'A song as WAV while it renders, from its beginning',
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
      summary: 'A file, by the link that was handed out for it; takes Range',
      ranges: true,
      query: Type.Object({
        expires: Type.String({ description: 'Unix seconds at which the link expires' }),
        signature: Type.String({
          description: 'Signature of the link; an altered link is invalid',
        }),
      }),
      response: { 'application/octet-stream': binary },
      errors: [404, 503],
    },
  },
];

/** What differs between the jobs of videos and those of music. */
interface JobFamily {
  readonly type: JobType;
  readonly path: string;
  readonly tag: string;
  readonly models: Pipeline;
  /** What a finished job has, as in `delete … with its …`. */
  readonly outputs: string;
  readonly schemas: Readonly<Record<'job' | 'list' | 'deleted' | 'models', TSchema>>;
  readonly content: { readonly summary: string; readonly query: TObject; readonly response: Content };
}

const sharedRoutes = (
  ports: Ports,
  { type, path, tag, models, outputs, schemas, content }: JobFamily,
): readonly Route[] => [
  {
    method: 'GET',
    path,
    pipeline: jobList(ports, type),
    doc: {
      tag,
      summary: `The subscription's ${type} jobs`,
      query: ListQuery,
      response: json(schemas.list),
      errors: [400, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/models`,
    pipeline: models,
    doc: { tag, summary: `Served ${type} models`, response: json(schemas.models), errors: [502, 503] },
  },
  {
    method: 'GET',
    path: `${path}/{id}`,
    pipeline: jobGet(ports, type),
    doc: { tag, summary: `A ${type} job`, response: json(schemas.job), errors: [404, 503] },
  },
  {
    method: 'DELETE',
    path: `${path}/{id}`,
    pipeline: jobRemove(ports, type),
    doc: {
      tag,
      summary: `Cancel a job, or delete a finished one with its ${outputs}`,
      response: json(Type.Union([schemas.deleted, schemas.job])),
      errors: [404, 409, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/{id}/content`,
    pipeline: jobContent(ports, type),
    doc: { tag, ranges: true, ...content, errors: outputErrors },
  },
];
