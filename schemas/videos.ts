/** Requests and responses of the video routes. */
import Type, { type Static } from 'typebox';
import { MediaText } from './chat.ts';
import { JobFields, ModelFields, PositiveNumber, RequestFields, Seed, WholeNumber } from './render.ts';
import { deletedFields, listFields, Titled } from './shapes.ts';

const source = Type.Object({ url: MediaText('https URL or base64 data URI') });

const FrameImage = Type.Object({
  type: Type.Literal('image_url'),
  image_url: source,
  frame_type: Type.Enum(['first_frame', 'last_frame']),
});

/** One object for every kind, so that an error names the field and not a list of alternatives. */
const InputReference = Type.Object({
  type: Type.Enum(['image_url', 'video_url', 'audio_url']),
  image_url: Type.Optional(source),
  video_url: Type.Optional(source),
  audio_url: Type.Optional(source),
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
    description: 'turbo (auto, low), standard (medium) or max (high); turbo by default',
  }),
  num_inference_steps: WholeNumber({ description: '4 to 50; the count of the tier by default' }),
  start_time_seconds: PositiveNumber({ description: 'Where to start reading each reference video' }),
};
export const videoSettings = Object.keys(settings);

const fields = {
  ...RequestFields(settings),
  prompt: Type.String({ description: 'Used as written; at most 7000 characters' }),
  duration: Type.Optional(WholeNumber({ description: 'Seconds; 6 by default' })),
  seconds: Type.Optional(WholeNumber({ description: 'Another name of duration, which wins' })),
  resolution: Type.Optional(Type.String({ description: '768p or 2K; 768p by default' })),
  aspect_ratio: Type.Optional(Type.String({ description: '16:9 by default' })),
  size: Type.Optional(Type.String({ description: 'WxH; must agree with aspect_ratio and resolution' })),
  frame_images: Type.Optional(Type.Array(FrameImage, { maxItems: 2 })),
  input_references: Type.Optional(
    Type.Array(InputReference, { description: 'Ignored when a frame image is sent' }),
  ),
  generate_audio: Type.Optional(Type.Boolean({ description: 'true by default' })),
  seed: Type.Optional(Seed()),
};

const firstFrame = 'The first frame; ignored when frame_images is sent';

export const VideoRequest = Titled('VideoRequest', {
  ...fields,
  input_reference: Type.Optional(
    Type.Union([Type.String(), Type.Object({ image_url: Type.String() })], { description: firstFrame }),
  ),
});

export const VideoForm = Type.Object(
  {
    model: Type.String(),
    prompt: Type.String(),
    seconds: Type.Optional(Type.String()),
    size: Type.Optional(Type.String()),
    input_reference: Type.Optional(Type.String({ format: 'binary', description: firstFrame })),
    generate_audio: Type.Optional(Type.Enum(['true', 'false'])),
    callback_url: Type.Optional(Type.String()),
  },
  { title: 'VideoForm', description: 'Every other field of the JSON body is taken too, as text' },
);

/** As it is validated first: the reader checks which of its forms `input_reference` has. */
export const VideoFields = Type.Object({ ...fields, input_reference: Type.Optional(Type.Unknown()) });
export type VideoFields = Static<typeof VideoFields>;

export const VideoJob = Titled('VideoJob', {
  ...JobFields,
  object: Type.Literal('video'),
  seconds: Type.String(),
  duration: Type.Integer({ description: 'Seconds requested' }),
  size: Type.String(),
  resolution: Type.String(),
  aspect_ratio: Type.String(),
  quality: Type.String(),
  num_inference_steps: Type.Integer(),
  generate_audio: Type.Boolean(),
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
    Type.Union([Type.String(), Type.Null(), Type.Object({ code: Type.String(), message: Type.String() })]),
  ),
  remixed_from_video_id: Type.Null(),
  generation_id: Type.String(),
});

export const VideoList = Type.Object(listFields(VideoJob));
export const DeletedVideo = Type.Object(deletedFields('video.deleted'));

const Names = Type.Union([Type.Array(Type.String()), Type.Null()]);

export const VideoModels = Titled('VideoModels', {
  data: Type.Array(
    Type.Object({
      ...ModelFields,
      hugging_face_id: Type.Optional(Type.String()),
      supported_resolutions: Names,
      supported_aspect_ratios: Names,
      supported_sizes: Names,
      supported_durations: Type.Array(Type.Integer()),
      supported_frame_images: Names,
      generate_audio: Type.Boolean(),
      creativity: Type.Null(),
      upscale_factor: Type.Null(),
    }),
  ),
});
export type VideoModels = Static<typeof VideoModels>;
