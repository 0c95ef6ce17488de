/** Routes of speech and transcription. */
import Type from 'typebox';
import { speechExamples, transcriptionExamples, voicesExamples } from '../../schemas/examples/audio.ts';
import { ErrorEnvelope, json } from '../../schemas/openapi.ts';
import { CountOf } from '../../schemas/shapes.ts';
import { SpeechRequest, VoiceList, VoicesQuery } from '../../schemas/speech.ts';
import { Transcription, TranscriptionForm, TranscriptionRequest } from '../../schemas/transcription.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, generationErrors, type Route, resumableHeaders, resumableReply } from '../route.ts';
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
        input_tokens: CountOf('Tokens of the text'),
        output_tokens: CountOf('Always 0: audio is billed by seconds'),
        total_tokens: CountOf('Both together'),
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
    Type.Object({
      type: Type.Literal('transcript.text.delta'),
      delta: Type.String({ description: 'The next piece of the text' }),
    }),
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
      summary: 'Create speech',
      description:
        'Says a text. The response is the audio: a file, or with `pcm` raw samples as they are generated; `stream_format: sse` sends events with base64 instead. Voices are built-in speakers, made from a description (`design`) or from a clip (`clone`): see `GET /audio/voices`. Billed by the seconds of audio before `speed`, rounded up.',
      examples: speechExamples,
      replyHeaders: ['x-usage-seconds', 'x-usage-cost', ...callHeaders, ...resumableReply],
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
      summary: 'Transcribe speech',
      description:
        'Turns a recording of up to 25 MB and 4 hours into text; `stream` sends the text in pieces. Send the recording as a form file or as base64, not as a URL. Timestamps, `verbose_json`, `srt` and `vtt` are a 400. Billed by the seconds of audio, rounded up.',
      examples: transcriptionExamples,
      replyHeaders: [...callHeaders, ...resumableReply],
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
      summary: 'List voices',
      description:
        'The built-in speakers of one speech model or of all, and `design` or `clone` where a model makes voices.',
      examples: voicesExamples,
      query: VoicesQuery,
      response: json(VoiceList),
      errors: [400, 404, 502, 503],
    },
  },
];
