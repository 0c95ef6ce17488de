/** Routes of speech and transcription. */
import Type from 'typebox';
import { ErrorEnvelope, json } from '../../schemas/openapi.ts';
import { SpeechRequest, VoiceList, VoicesQuery } from '../../schemas/speech.ts';
import { Transcription, TranscriptionForm, TranscriptionRequest } from '../../schemas/transcription.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, type Route, resumableHeaders } from '../route.ts';
import { audioSpeech } from './speech.ts';
import { audioTranscriptions } from './transcriptions.ts';
import { audioVoices } from './voices.ts';

const tag = 'Audio';
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

export const audioRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/audio/speech',
    // A clip comes as base64.
    bodyLimit: 40 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'speech', audioSpeech(ports)),
    doc: {
      tag,
      summary: 'Speech from text, as a file, as raw samples or as events',
      headers: resumableHeaders,
      body: json(SpeechRequest),
      response: {
        'audio/mpeg': sound,
        'audio/ogg': sound,
        'audio/flac': sound,
        'audio/wav': sound,
        'audio/pcm': sound,
        'text/event-stream': SpeechEvent,
      },
      errors: generationErrors,
    },
  },
  {
    method: 'POST',
    path: '/audio/transcriptions',
    // Enough for a recording as base64, and for one above its limit to be refused by name.
    bodyLimit: 48 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'transcription', audioTranscriptions(ports)),
    doc: {
      tag,
      summary: 'Text from recorded speech, whole or as it is recognised',
      headers: resumableHeaders,
      body: { ...json(TranscriptionRequest), 'multipart/form-data': TranscriptionForm },
      response: {
        ...json(Transcription),
        'text/plain': Type.String(),
        'text/event-stream': TranscriptionEvent,
      },
      errors: generationErrors,
    },
  },
  {
    method: 'GET',
    path: '/audio/voices',
    pipeline: audioVoices(ports),
    doc: {
      tag,
      summary: 'The voices of speech models',
      query: VoicesQuery,
      response: json(VoiceList),
      errors: [400, 404, 502, 503],
    },
  },
];
