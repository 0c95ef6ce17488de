/** The music routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { DeletedMusic, MusicJob, MusicList, MusicModels, MusicRequest } from '../../schemas/music.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { jobDocs, sendsOutput, startsJob } from './docs.ts';

const tag = 'Music';
const sound = Type.String({ format: 'binary' });
const query = Type.Object({
  index: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of the song among the outputs; 0 unless told' }),
  ),
});

export const musicDocs = {
  ...jobDocs(
    { tag, kind: 'music', outputs: 'songs' },
    { job: MusicJob, list: MusicList, deleted: DeletedMusic, models: MusicModels },
  ),
  create: {
    ...startsJob,
    tag,
    summary: 'Start rendering music; answers at once with the job',
    body: json(MusicRequest),
    answer: json(MusicJob),
  },
  content: {
    ...sendsOutput,
    tag,
    summary: 'The bytes of a finished song; takes Range',
    ranges: true,
    query,
    answer: { 'audio/mpeg': sound, 'audio/wav': sound, 'audio/flac': sound, 'audio/ogg': sound },
  },
  stream: {
    ...sendsOutput,
    tag,
    summary: 'A song as WAV while it renders, from its beginning',
    query,
    answer: { 'audio/wav': sound },
  },
} as const satisfies Record<string, RouteDoc>;
