/** Requests and responses of `POST /audio/speech` and `GET /audio/voices`. */
import Type, { type Static } from 'typebox';
import { ignoredFields, Titled } from './shapes.ts';

/** Bytes and seconds of a clip that a voice is made from. */
export const maxClipBytes = 25 * 1024 * 1024;
export const maxClipSeconds = 120;

export const SpeechFormat = Type.Enum(['mp3', 'opus', 'flac', 'wav', 'pcm']);
export type SpeechFormat = Static<typeof SpeechFormat>;

/** What may also be given as options of a provider. */
const tunable = {
  instructions: Type.Optional(
    Type.String({
      maxLength: 8192,
      description: 'Style of a built-in speaker, or the description a voice is designed from',
    }),
  ),
  language: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'auto, an ISO 639-1 code or an English name; auto by default',
    }),
  ),
  speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4, description: '1 by default' })),
  seed: Type.Optional(Type.Integer({ minimum: -(2 ** 63), maximum: 2 ** 63 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: -1, maximum: 2 ** 31 - 1 })),
};

/** Options under `provider.options`: by themselves, or under the name of a provider. */
export const SpeechOptions = Type.Object(tunable);
export type SpeechOptions = Static<typeof SpeechOptions>;

const fields = {
  model: Type.String({ minLength: 1 }),
  input: Type.String({ minLength: 1, description: "At most the model's max_prompt_length characters" }),
  voice: Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })], {
      description:
        'A built-in speaker, design or clone; the default speaker, or clone beside a clip, by default',
    }),
  ),
  response_format: Type.Optional(SpeechFormat),
  stream_format: Type.Optional(Type.Enum(['audio', 'sse'])),
  ...tunable,
  provider: Type.Optional(Type.Unknown()),
  ...ignoredFields,
};

const Transcript = Type.Object({ type: Type.Literal('text'), text: Type.String({ maxLength: 16_384 }) });
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
          type: Type.Literal('input_audio'),
          input_audio: Type.Object({
            data: Type.String({ description: 'Base64, no data URI' }),
            format: Type.Optional(Type.String()),
          }),
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
      id: Type.String(),
      object: Type.Literal('audio.voice'),
      name: Type.String(),
      model: Type.String(),
      language: Type.Null(),
      description: Type.Null(),
      kind: Type.Enum(['builtin', 'design', 'clone']),
    }),
  ),
});
