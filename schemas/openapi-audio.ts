/** The audio routes in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { json, type RouteDoc } from './openapi.ts';
import { SpeechRequest, VoiceList, VoicesQuery } from './speech.ts';
import { Transcription, TranscriptionForm, TranscriptionRequest } from './transcription.ts';

const events = Type.String({ description: 'Server-sent events' });
const sound = Type.String({ format: 'binary' });

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
      'text/event-stream': events,
    },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
  transcriptions: {
    tag: 'Audio',
    summary: 'Text from recorded speech, whole or as it is recognised',
    body: { ...json(TranscriptionRequest), 'multipart/form-data': TranscriptionForm },
    answer: { ...json(Transcription), 'text/plain': Type.String(), 'text/event-stream': events },
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
