/** The music routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { DeletedMusic, MusicJob, MusicList, MusicModels, MusicRequest } from './music.ts';
import { json, type RouteDoc } from './openapi.ts';
import { ListQuery } from './render.ts';

const tag = 'Music';
const sound = Type.String({ format: 'binary' });
const query = Type.Object({
  index: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of the song among the outputs; 0 unless told' }),
  ),
});

export const musicDocs = {
  create: {
    tag,
    summary: 'Start rendering music; answers at once with the job',
    body: json(MusicRequest),
    status: 202,
    answer: json(MusicJob),
    errors: [400, 404, 413, 429, 503],
  },
  get: { tag, summary: 'A music job', answer: json(MusicJob), errors: [404, 503] },
  list: {
    tag,
    summary: 'Music jobs of the subscription',
    query: ListQuery,
    answer: json(MusicList),
    errors: [400, 503],
  },
  content: {
    tag,
    summary: 'The bytes of a finished song; takes Range',
    query,
    answer: { 'audio/mpeg': sound, 'audio/wav': sound, 'audio/flac': sound, 'audio/ogg': sound },
    errors: [400, 404, 409, 503],
  },
  stream: {
    tag,
    summary: 'A song as WAV while it renders, from its beginning',
    query,
    answer: { 'audio/wav': sound },
    errors: [400, 404, 409, 503],
  },
  remove: {
    tag,
    summary: 'Cancel a job, or delete a finished one with its songs',
    answer: json(Type.Union([DeletedMusic, MusicJob])),
    errors: [404, 409, 503],
  },
  models: { tag, summary: 'Served music models', answer: json(MusicModels), errors: [502, 503] },
} as const satisfies Record<string, RouteDoc>;
