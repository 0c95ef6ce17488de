/** What the gateway sends to engines of the `openai` wire, by operation; no field beyond these is sent. */
import Type, { type TProperties } from 'typebox';
import { Closed } from '../shapes.ts';

const Sent = <Fields extends TProperties>(description: string, fields: Fields) =>
  Type.Object(fields, { additionalProperties: false, description });

const Text = Type.String();
const Optional = Type.Optional;
const model = Type.String({ description: '`served_as` of the model’s row' });
const Size = Type.String({ pattern: '^[1-9][0-9]*x[1-9][0-9]*$', description: 'Width and height in pixels' });
const Seed = Type.Integer({ description: 'From -2⁶³ to 2⁶³ - 1' });
const File = Type.String({ contentMediaType: 'application/octet-stream' });
const DataUri = Type.String({ pattern: '^data:', description: 'A base64 data URI' });

// ── images ─────────────────────────────────────────────────────────────────────────────────────────

const imageFields = {
  model,
  prompt: Text,
  size: Size,
  response_format: Type.Literal('b64_json'),
  negative_prompt: Optional(Text),
  output_format: Optional(Type.Enum(['jpeg', 'webp'], { description: 'Absent: png' })),
  background: Optional(Type.Enum(['opaque', 'transparent'], { description: 'Absent: auto' })),
};

export const ImageRequest = Sent('Images from a prompt', {
  ...imageFields,
  n: Type.Integer({ minimum: 1, description: '1 where the row has `fan_out_n`' }),
  num_inference_steps: Optional(Type.Integer({ minimum: 1 })),
  guidance_scale: Optional(Type.Number()),
  output_compression: Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  seed: Optional(Seed),
});

export const ImageEditForm = Sent('Images from pictures and a prompt; numbers are texts', {
  ...imageFields,
  n: Text,
  num_inference_steps: Optional(Text),
  guidance_scale: Optional(Text),
  output_compression: Optional(Text),
  seed: Optional(Text),
  image: Optional(File),
  'image[]': Optional(Type.Array(File, { description: 'In place of `image` where there are several' })),
  mask: Optional(File),
});

// ── videos and songs ───────────────────────────────────────────────────────────────────────────────

const MediaLink = Closed({ url: DataUri });
const frameKind = Type.Enum(['first_frame', 'last_frame']);

export const VideoRequest = Sent('A clip; `asked_by: openai`', {
  model,
  prompt: Text,
  seconds: Type.String({ pattern: '^[1-9][0-9]*$' }),
  size: Size,
  generate_audio: Optional(Type.Boolean({ description: 'Where the model takes it, as the next three' })),
  seed: Optional(Type.Integer()),
  quality: Optional(Type.Enum(['turbo', 'standard', 'max'])),
  num_inference_steps: Optional(Type.Integer({ minimum: 1 })),
  start_time_seconds: Optional(Type.Number({ minimum: 0 })),
  input_reference: Optional(
    Type.Object(
      { image_url: DataUri },
      { additionalProperties: false, description: 'A first frame, where it is the only picture' },
    ),
  ),
  frame_images: Optional(
    Type.Array(Closed({ type: Type.Literal('image_url'), image_url: MediaLink, frame_type: frameKind }), {
      description: 'Frames in any other combination',
    }),
  ),
  input_references: Optional(
    Type.Array(
      Type.Union([
        Closed({ type: Type.Literal('image_url'), image_url: MediaLink }),
        Closed({ type: Type.Literal('video_url'), video_url: MediaLink }),
        Closed({ type: Type.Literal('audio_url'), audio_url: MediaLink }),
      ]),
      { description: 'Media that guide the clip' },
    ),
  ),
});

export const VideoForm = Sent('A clip; `asked_by: vllm`', {
  model,
  prompt: Text,
  seconds: Type.String({ pattern: '^[1-9][0-9]*$' }),
  size: Size,
  num_inference_steps: Type.String({ pattern: '^[1-9][0-9]*$' }),
  fps: Optional(Type.String({ pattern: '^[1-9][0-9]*$', description: '`fps` of the model’s row' })),
  seed: Optional(Text),
  generate_sound: Optional(Type.Enum(['true', 'false'])),
  start_time_seconds: Optional(Text),
  input_reference: Optional(File),
  input_references: Optional(
    Type.Array(File, { description: 'First and last frame in this order, or media that guide the clip' }),
  ),
});

export const MusicRequest = Sent('Songs', {
  model,
  prompt: Text,
  lyrics: Optional(Text),
  duration: Type.Integer({ minimum: 1, description: 'Seconds of each song' }),
  response_format: Type.Enum(['mp3', 'wav', 'flac', 'opus']),
  n: Optional(Type.Integer({ minimum: 2, description: 'Absent: one song' })),
  seed: Type.Integer(),
});

// ── speech ─────────────────────────────────────────────────────────────────────────────────────────

const speechFields = {
  model,
  input: Text,
  voice: Optional(Text),
  instructions: Optional(Text),
  response_format: Type.Enum(['pcm', 'wav', 'mp3', 'opus', 'flac', 'aac'], {
    description: '`engine_format` of the model’s row',
  }),
  language: Optional(
    Type.String({ description: 'ISO 639-1; to `asked_by: vllm` its English name or `Auto`' }),
  ),
  seed: Optional(Type.Integer()),
};
const sampling = {
  temperature: Optional(Type.Number()),
  top_p: Optional(Type.Number()),
  top_k: Optional(Type.Integer()),
};

export const SpeechRequest = Sent('Speech; `asked_by: openai` or `sluice`', {
  ...speechFields,
  ...sampling,
  input_references: Optional(
    Type.Array(
      Type.Union([
        Closed({
          type: Type.Literal('input_audio'),
          input_audio: Closed({ data: Text, format: Text }),
        }),
        Closed({ type: Type.Literal('text'), text: Text }),
      ]),
      { description: '`asked_by: sluice` with `voice: clone`: the clip as base64, and its transcript' },
    ),
  ),
});

export const OmniSpeechRequest = Sent('Speech; `asked_by: vllm`', {
  ...speechFields,
  task_type: Type.Enum(['CustomVoice', 'VoiceDesign', 'Base']),
  ref_audio: Optional(DataUri),
  ref_text: Optional(Text),
  x_vector_only_mode: Optional(Type.Literal(true)),
  extra_params: Optional(Closed(sampling)),
  stream: Optional(Type.Literal(true, { description: 'With `response_format: pcm`, as the next' })),
  stream_format: Optional(Type.Literal('audio')),
});

export const TranscriptionForm = Sent('A recording to be written down', {
  model,
  file: File,
  response_format: Type.Literal('json'),
  stream: Optional(Type.Literal('true')),
  language: Optional(Text),
  prompt: Optional(Text),
  temperature: Optional(Text),
});

// ── texts ──────────────────────────────────────────────────────────────────────────────────────────

export const EmbeddingsRequest = Sent('Texts to be embedded', {
  model,
  input: Type.Array(
    Type.Union([Text, Type.Array(Type.Integer({ minimum: 0 }), { description: 'Ids of tokens' })]),
    { minItems: 1 },
  ),
  encoding_format: Type.Enum(['float', 'base64']),
  truncate_prompt_tokens: Optional(
    Type.Integer({ minimum: 1, description: 'Under the name that `truncate_field` of the row gives it' }),
  ),
});

export const EngineRerankRequest = Sent('Documents to be ranked; `asked_by: rerank`', {
  model,
  query: Text,
  documents: Type.Array(Text, { minItems: 1 }),
  return_documents: Type.Literal(false),
});

export const TeiRerankRequest = Sent('Documents to be ranked; `asked_by: tei`', {
  query: Text,
  texts: Type.Array(Text, { minItems: 1 }),
  truncate: Type.Literal(true),
});
