/** The video routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { json, type RouteDoc } from './openapi.ts';
import { ListQuery } from './render.ts';
import { DeletedVideo, VideoForm, VideoJob, VideoList, VideoModels, VideoRequest } from './videos.ts';

const tag = 'Videos';

export const videoDocs = {
  create: {
    tag,
    summary: 'Start rendering a video; answers at once with the job',
    body: { 'application/json': VideoRequest, 'multipart/form-data': VideoForm },
    status: 202,
    answer: json(VideoJob),
    errors: [400, 404, 413, 429, 503],
  },
  get: { tag, summary: 'A video job', answer: json(VideoJob), errors: [404, 503] },
  list: {
    tag,
    summary: 'Video jobs of the subscription',
    query: ListQuery,
    answer: json(VideoList),
    errors: [400, 503],
  },
  content: {
    tag,
    summary: 'The bytes of a finished video; takes Range',
    query: Type.Object({
      index: Type.Optional(Type.Integer({ minimum: 0, description: '0 unless told' })),
      variant: Type.Optional(Type.Enum(['video'])),
    }),
    answer: { 'video/mp4': Type.String({ format: 'binary' }) },
    errors: [400, 404, 409, 503],
  },
  remove: {
    tag,
    summary: 'Cancel a job, or delete a finished one with its video',
    answer: json(Type.Union([DeletedVideo, VideoJob])),
    errors: [404, 409, 503],
  },
  models: { tag, summary: 'Served video models', answer: json(VideoModels), errors: [502, 503] },
} as const satisfies Record<string, RouteDoc>;
