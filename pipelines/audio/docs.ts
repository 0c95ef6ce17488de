/** The audio routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { ErrorEnvelope, json, type RouteDoc } from '../../schemas/openapi.ts';
import { SpeechRequest, VoiceList, VoicesQuery } from '../../schemas/speech.ts';
import { Transcription, TranscriptionForm, TranscriptionRequest } from '../../schemas/transcription.ts';

const sound = Type.String({ format: 'binary' });
const { error } = ErrorEnvelope.properties;

const SpeechEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal('speech.audio.delta'),
      audio: Type.String({ description: 'Base64: the next samples, or the whole file' }),
    }),
    Type.Object({
      type: Type.Literal('speech.audio.done'),
      usage: Type.Object({
        input_tokens: Type.Integer({ minimum: 0 }),
        output_tokens: Type.Integer({ minimum: 0 }),
        total_tokens: Type.Integer({ minimum: 0 }),
        seconds: Type.Integer({ minimum: 0, description: 'Of audio, rounded up: what is billed' }),
        cost: Type.Number({ description: 'US dollars' }),
      }),
    }),
    Type.Object({ type: Type.Literal('speech.audio.error'), error }),
  ],
  { title: 'SpeechEvent' },
);

const TranscriptionEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('transcript.text.delta'), delta: Type.String() }),
    Type.Object({ type: Type.Literal('transcript.text.done'), ...Transcription.properties }),
    Type.Object({ type: Type.Literal('transcript.text.error'), error }),
  ],
  { title: 'TranscriptionEvent' },
);

export const audioDocs = {
  speech: {
    tag: 'Audio',
    summary: 'Speech from text, as a file, as raw samples or as events',
    body: json(SpeechRequest),
    answer: {
      'audio/mpeg': sound,
      'audio/ogg': sound,
      'audio/flac': sound,
      'audio/wav': sound,
      'audio/pcm': sound,
      'text/event-stream': SpeechEvent,
    },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
  transcriptions: {
    tag: 'Audio',
    summary: 'Text from recorded speech, whole or as it is recognised',
    body: { ...json(TranscriptionRequest), 'multipart/form-data': TranscriptionForm },
    answer: { ...json(Transcription), 'text/plain': Type.String(), 'text/event-stream': TranscriptionEvent },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
  voices: {
    tag: 'Audio',
    summary: 'The voices of speech models',
    query: VoicesQuery,
    answer: json(VoiceList),
    errors: [400, 404, 502, 503],
  },
} as const satisfies Record<string, RouteDoc>;
