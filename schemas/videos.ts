/** Requests and responses of the video routes. */
import Type, { type Static } from 'typebox';
import { MediaText } from './chat/content.ts';
import { JobFields, ModelFields, PositiveNumber, RequestFields, Seed, WholeNumber } from './render.ts';
import { deletedFields, listFields, Titled } from './shapes.ts';

const source = (description: string) =>
  Type.Object({ url: MediaText('https URL or base64 data URI') }, { description });

const FrameImage = Type.Object({
  type: Type.Literal('image_url', { description: 'Frames are images' }),
  image_url: source('JPG, PNG, WEBP, HEIC or HEIF, up to 30 MB'),
  frame_type: Type.Enum(['first_frame', 'last_frame'], { description: 'Which frame of the video it is' }),
});

/** One object for every kind, so that an error names the field and not a list of alternatives. */
const InputReference = Type.Object({
  type: Type.Enum(['image_url', 'video_url', 'audio_url'], {
    description: 'Names the field that holds the address',
  }),
  image_url: Type.Optional(source('JPG, PNG, WEBP, HEIC or HEIF, up to 30 MB')),
  video_url: Type.Optional(source('MP4 or MOV, 2 to 15 seconds, up to 50 MB')),
  audio_url: Type.Optional(source('WAV or MP3, 2 to 15 seconds, up to 15 MB')),
  role: Type.Optional(
    Type.Enum(['reference', 'driving', 'control'], {
      description: 'reference by default; the others are reserved for models that support them',
    }),
  ),
});
export type InputReference = Static<typeof InputReference>;

/** May also be sent under `provider.options`. */
const settings = {
  quality: Type.String({
    description:
      '`turbo` (`auto`, `low`), the default; `standard` (`medium`) at 3 times the price; `max` (`high`) at 5 times',
  }),
  num_inference_steps: WholeNumber({
    description:
      '4 to 50; the count of the quality by default. From 10 on the base model runs, at steps / 6 times the price',
  }),
  start_time_seconds: PositiveNumber({
    description: 'Seconds into each reference video at which reading starts',
  }),
};
export const videoSettings = Object.keys(settings);

const fields = {
  ...RequestFields(settings),
  prompt: Type.String({ description: 'What the video shows; used as written, up to 7000 characters' }),
  duration: Type.Optional(
    WholeNumber({ description: 'Seconds, 4 to 15 on the primary model; 6 by default' }),
  ),
  seconds: Type.Optional(WholeNumber({ description: 'Another name of duration, which wins' })),
  resolution: Type.Optional(
    Type.String({
      description: '`768p` (the default) or `2K`, at 4 times the price and only with the turbo schedule',
    }),
  ),
  aspect_ratio: Type.Optional(
    Type.String({ description: '`16:9` (the default), `9:16`, `4:3`, `3:4`, `1:1` or `21:9`' }),
  ),
  size: Type.Optional(
    Type.String({ description: '`WxH`, such as 1344x768; must agree with `aspect_ratio` and `resolution`' }),
  ),
  frame_images: Type.Optional(
    Type.Array(FrameImage, { maxItems: 2, description: 'First frame, last frame or both' }),
  ),
  input_references: Type.Optional(
    Type.Array(InputReference, {
      description:
        'Media that guide the video: up to 9 images, 3 videos and 3 recordings, 12 in all; ignored when a frame is sent',
    }),
  ),
  generate_audio: Type.Optional(
    Type.Boolean({ description: 'Whether the video has a soundtrack; true by default' }),
  ),
  seed: Type.Optional(Seed()),
};

const firstFrame = 'The first frame; ignored when `frame_images` is sent';

export const VideoRequest = Titled('VideoRequest', {
  ...fields,
  input_reference: Type.Optional(
    Type.Union(
      [
        Type.String(),
        Type.Object({ image_url: Type.String({ description: 'https URL or base64 data URI' }) }),
      ],
      { description: firstFrame },
    ),
  ),
});

export const VideoForm = Type.Object(
  {
    model: Type.String({ description: 'Id of a video model' }),
    prompt: Type.String({ description: 'What the video shows; up to 7000 characters' }),
    seconds: Type.Optional(Type.String({ description: 'A whole number; 6 by default' })),
    size: Type.Optional(Type.String({ description: '`WxH`, such as 1344x768' })),
    input_reference: Type.Optional(Type.String({ format: 'binary', description: firstFrame })),
    generate_audio: Type.Optional(
      Type.Enum(['true', 'false'], { description: 'Whether the video has a soundtrack' }),
    ),
    callback_url: Type.Optional(
      Type.String({ description: 'https URL on a public host that is called when the job has ended' }),
    ),
  },
  { title: 'VideoForm', description: 'Every other field of the JSON body is taken too, as text' },
);

/** As it is validated first: the reader checks which of its forms `input_reference` has. */
export const VideoFields = Type.Object({ ...fields, input_reference: Type.Optional(Type.Unknown()) });
export type VideoFields = Static<typeof VideoFields>;

export const VideoJob = Titled('VideoJob', {
  ...JobFields,
  object: Type.Literal('video'),
  seconds: Type.String({ description: 'The same as `duration`, as text' }),
  duration: Type.Integer({ description: 'Seconds requested' }),
  size: Type.String({ description: '`WxH`' }),
  resolution: Type.String({ description: '`768p` or `2K`' }),
  aspect_ratio: Type.String({ description: 'Such as `16:9`' }),
  quality: Type.String({ description: '`turbo`, `standard` or `max`' }),
  num_inference_steps: Type.Integer({ description: 'Steps that are run' }),
  generate_audio: Type.Boolean({ description: 'Whether it is to have a soundtrack' }),
  output: Type.Optional(
    Type.Object(
      {
        duration: Type.Number({ description: 'Actual seconds' }),
        width: Type.Integer(),
        height: Type.Integer(),
        fps: Type.Number(),
        audio: Type.Optional(Type.Boolean({ description: 'Whether it has a soundtrack' })),
      },
      { description: 'Read from the rendered file' },
    ),
  ),
  error: Type.Optional(
    Type.Union([Type.String(), Type.Null(), Type.Object({ code: Type.String(), message: Type.String() })], {
      description: 'Why it failed: a text; an object or null for clients of OpenAI',
    }),
  ),
  remixed_from_video_id: Type.Null(),
  generation_id: Type.String({ description: 'The same as `id`' }),
});

export const VideoList = Type.Object(listFields(VideoJob));
export const DeletedVideo = Type.Object(deletedFields('video.deleted'));

const Names = (description: string) => Type.Union([Type.Array(Type.String()), Type.Null()], { description });

export const VideoModels = Titled('VideoModels', {
  data: Type.Array(
    Type.Object({
      ...ModelFields,
      hugging_face_id: Type.Optional(Type.String()),
      supported_resolutions: Names('The default first'),
      supported_aspect_ratios: Names('The default first'),
      supported_sizes: Names('`WxH`'),
      supported_durations: Type.Array(Type.Integer(), { description: 'Seconds' }),
      supported_frame_images: Names('Frames that may be given as images'),
      generate_audio: Type.Boolean({ description: 'Whether it makes soundtracks' }),
      creativity: Type.Null(),
      upscale_factor: Type.Null(),
    }),
  ),
});
export type VideoModels = Static<typeof VideoModels>;
