/** The video routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import {
  DeletedVideo,
  VideoForm,
  VideoJob,
  VideoList,
  VideoModels,
  VideoRequest,
} from '../../schemas/videos.ts';
import { jobDocs, sendsOutput, startsJob } from './docs.ts';

const tag = 'Videos';

export const videoDocs = {
  ...jobDocs(
    { tag, kind: 'video', outputs: 'video' },
    { job: VideoJob, list: VideoList, deleted: DeletedVideo, models: VideoModels },
  ),
  create: {
    ...startsJob,
    tag,
    summary: 'Start rendering a video; answers at once with the job',
    body: { 'application/json': VideoRequest, 'multipart/form-data': VideoForm },
    answer: json(VideoJob),
  },
  content: {
    ...sendsOutput,
    tag,
    summary: 'The bytes of a finished video; takes Range',
    ranges: true,
    query: Type.Object({
      index: Type.Optional(Type.Integer({ minimum: 0, description: '0 unless told' })),
      variant: Type.Optional(Type.Enum(['video'])),
    }),
    answer: { 'video/mp4': Type.String({ format: 'binary' }) },
  },
} as const satisfies Record<string, RouteDoc>;
