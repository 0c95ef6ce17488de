/** Requests and responses of `POST /audio/speech` and `GET /audio/voices`. */
import Type, { type Static } from 'typebox';
import { ignoredFields, Titled } from './shapes.ts';

/** Bytes and seconds of a clip that a voice is made from. */
export const maxClipBytes = 25 * 1024 * 1024;
export const maxClipSeconds = 120;

export const SpeechFormat = Type.Enum(['mp3', 'opus', 'flac', 'wav', 'pcm'], {
  description: 'mp3 by default; pcm is 24 kHz, 16 bits, one channel, without a header',
});
export type SpeechFormat = Static<typeof SpeechFormat>;

/** What may also be given as options of a provider. */
const tunable = {
  instructions: Type.Optional(
    Type.String({
      maxLength: 8192,
      description: 'Style of a built-in speaker, or what a designed voice sounds like; not for cloned voices',
    }),
  ),
  language: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'auto, an ISO 639-1 code or an English name; auto by default',
    }),
  ),
  speed: Type.Optional(
    Type.Number({ minimum: 0.25, maximum: 4, description: 'How fast it is spoken; 1 by default' }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: -(2 ** 63),
      maximum: 2 ** 63,
      description: 'Makes speech repeatable as far as the engine can; random by default',
    }),
  ),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 2, description: 'Randomness of the delivery' }),
  ),
  top_p: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Only the likeliest sounds with this probability together',
    }),
  ),
  top_k: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: 2 ** 31 - 1,
      description: 'Only so many of the likeliest sounds; -1: all',
    }),
  ),
};

/** Options under `provider.options`: by themselves, or under the name of a provider. */
export const SpeechOptions = Type.Object(tunable);
export type SpeechOptions = Static<typeof SpeechOptions>;

const fields = {
  model: Type.String({ minLength: 1, description: 'Id of a speech model', examples: ['sluice/speech'] }),
  input: Type.String({
    minLength: 1,
    description: 'What is said; up to `per_request_limits.max_prompt_length` characters of the model',
  }),
  voice: Type.Optional(
    Type.Union(
      [
        Type.String({ minLength: 1 }),
        Type.Object({ id: Type.String({ minLength: 1, description: 'The same as the bare name' }) }),
      ],
      {
        description:
          'A built-in speaker, `design` (a voice made from `instructions`) or `clone` (the voice of a clip). The default speaker of the model when absent, `clone` beside a clip',
      },
    ),
  ),
  response_format: Type.Optional(SpeechFormat),
  stream_format: Type.Optional(
    Type.Enum(['audio', 'sse'], {
      description:
        'audio (the default) sends bytes, sse events with base64; pcm at speed 1 is sent as it is generated',
    }),
  ),
  ...tunable,
  provider: Type.Optional(
    Type.Unknown({
      description:
        '`options` may carry instructions, language, speed, seed, temperature, top_p and top_k; the rest is ignored',
    }),
  ),
  ...ignoredFields,
};

const Transcript = Type.Object({
  type: Type.Literal('text', { description: 'The transcript of the clip' }),
  text: Type.String({ maxLength: 16_384, description: 'What is said in the clip' }),
});
const Clip = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.Unknown(), format: Type.Optional(Type.String()) }),
});

/** Base64 of a large body comes as bytes, so that it is read by hand. */
export const SpeechFields = Type.Object({
  ...fields,
  input_references: Type.Optional(Type.Array(Type.Union([Clip, Transcript]), { maxItems: 2 })),
});
export type SpeechFields = Static<typeof SpeechFields>;

export const SpeechRequest = Titled('SpeechRequest', {
  ...fields,
  input_references: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Object({
          type: Type.Literal('input_audio', { description: 'The clip' }),
          input_audio: Type.Object(
            {
              data: Type.String({ description: 'Base64, not a data URI; no URLs' }),
              format: Type.Optional(Type.String({ description: 'Such as `wav`; read from the bytes' })),
            },
            { description: `Up to ${maxClipSeconds} seconds of the voice` },
          ),
        }),
        Transcript,
      ]),
      { maxItems: 2, description: 'One clip that the voice is cloned from, and what is said in it' },
    ),
  ),
});

export const VoicesQuery = Type.Object({
  model: Type.Optional(Type.String({ description: 'One model; those of all speech models by default' })),
});

export const VoiceList = Titled('VoiceList', {
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      id: Type.String({ description: 'The `voice` of a request' }),
      object: Type.Literal('audio.voice'),
      name: Type.String({ description: 'Name for people' }),
      model: Type.String({ description: 'The model that has it' }),
      language: Type.Null(),
      description: Type.Null(),
      kind: Type.Enum(['builtin', 'design', 'clone'], {
        description: 'A speaker of the model, or a way to make a voice',
      }),
    }),
  ),
});
