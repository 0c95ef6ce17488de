/** Requests and responses of the music routes. */
import Type, { type Static } from 'typebox';
import { JobFields, ModelFields, RequestFields, Seed, WholeNumber } from './render.ts';
import { deletedFields, listFields, Titled } from './shapes.ts';

/** May also be sent under `provider.options`. */
const settings = {
  lyrics: Type.String({ description: 'Words to be sung' }),
  duration: WholeNumber({ description: 'Seconds; the model has a default and bounds' }),
  response_format: Type.String({
    description: '`mp3`, `wav`, `flac` or `opus`; the first that the model lists by default',
  }),
  n: WholeNumber({ description: 'Number of songs; 1 by default' }),
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
  lyrics: Type.Optional(Type.String({ description: 'As requested' })),
  duration: Type.Integer({ description: 'Seconds requested' }),
  response_format: Type.String({ description: 'Format of the outputs' }),
  n: Type.Integer({ description: 'Songs requested' }),
  stream_url: Type.Optional(
    Type.String({ description: 'Where it can be played while it renders, on models that stream' }),
  ),
  outputs: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Number of the song, from 0' }),
        url: Type.String({ description: 'Where its bytes are; needs the key' }),
        duration: Type.Number({ description: 'Actual seconds' }),
        media_type: Type.String({ description: 'Such as `audio/mpeg`' }),
        size_bytes: Type.Integer(),
      }),
      { description: 'Finished songs' },
    ),
  ),
  error: Type.Optional(Type.String({ description: 'Why it failed, for people' })),
});

export const MusicList = Type.Object(listFields(MusicJob));
export const DeletedMusic = Type.Object(deletedFields('music.deleted'));

export const MusicModels = Titled('MusicModels', {
  data: Type.Array(
    Type.Object({
      ...ModelFields,
      supported_durations: Type.Object(
        { min: Type.Integer(), max: Type.Integer(), default: Type.Integer() },
        { description: 'Seconds' },
      ),
      supported_response_formats: Type.Array(Type.String(), { description: 'The default first' }),
      lyrics: Type.Boolean({ description: 'Whether it sings words' }),
      streaming: Type.Object({
        progressive: Type.Boolean({ description: 'Whether songs can be played while they render' }),
        sample_rate: Type.Integer({ description: 'Samples a second' }),
        channels: Type.Integer(),
      }),
    }),
  ),
});
export type MusicModels = Static<typeof MusicModels>;
