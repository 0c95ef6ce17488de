/** Requests and responses of the music routes. */
import Type, { type Static } from 'typebox';
import { JobFields, ModelFields, RequestFields, Seed, WholeNumber } from './render.ts';
import { deletedFields, listFields, Titled } from './shapes.ts';

/** May also be sent under `provider.options`. */
const settings = {
  lyrics: Type.String({ description: 'Words to be sung' }),
  duration: WholeNumber({ description: 'Seconds' }),
  response_format: Type.String({ description: 'mp3, wav, flac or opus' }),
  n: WholeNumber({ description: 'Songs; 1 by default' }),
  seed: Seed(),
};
export const musicSettings = Object.keys(settings);

export const MusicRequest = Titled('MusicRequest', {
  ...RequestFields(settings),
  prompt: Type.String({ description: 'What the song is like' }),
});
export type MusicRequest = Static<typeof MusicRequest>;

export const MusicJob = Titled('MusicJob', {
  ...JobFields,
  object: Type.Literal('music'),
  lyrics: Type.Optional(Type.String()),
  duration: Type.Integer({ description: 'Seconds requested' }),
  response_format: Type.String(),
  n: Type.Integer(),
  stream_url: Type.Optional(Type.String({ description: 'Where it can be played while it renders' })),
  outputs: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer(),
        url: Type.String(),
        duration: Type.Number({ description: 'Actual seconds' }),
        media_type: Type.String(),
        size_bytes: Type.Integer(),
      }),
    ),
  ),
  error: Type.Optional(Type.String()),
});

export const MusicList = Type.Object(listFields(MusicJob));
export const DeletedMusic = Type.Object(deletedFields('music.deleted'));

export const MusicModels = Titled('MusicModels', {
  data: Type.Array(
    Type.Object({
      ...ModelFields,
      supported_durations: Type.Object({
        min: Type.Integer(),
        max: Type.Integer(),
        default: Type.Integer(),
      }),
      supported_response_formats: Type.Array(Type.String()),
      lyrics: Type.Boolean(),
      streaming: Type.Object({
        progressive: Type.Boolean(),
        sample_rate: Type.Integer(),
        channels: Type.Integer(),
      }),
    }),
  ),
});
export type MusicModels = Static<typeof MusicModels>;
