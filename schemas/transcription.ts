/** Requests, as JSON and as a form, and responses of `POST /audio/transcriptions`. */
import Type, { type Static } from 'typebox';
import { Titled } from './shapes.ts';

/** Bytes of a recording, and seconds. */
export const maxRecordingBytes = 25 * 1024 * 1024;
export const maxRecordingSeconds = 4 * 60 * 60;

const AudioFormat = Type.Enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac'], {
  description: 'The container that the recording is in',
});

const fields = {
  model: Type.String({
    minLength: 1,
    description: 'Id of a transcription model',
    examples: ['sluice/transcribe'],
  }),
  language: Type.Optional(Type.String({ description: 'ISO 639-1 code; detected by default' })),
  prompt: Type.Optional(Type.String({ maxLength: 32_768, description: 'How names and terms are spelled' })),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Randomness; 0 takes what is likeliest' }),
  ),
  response_format: Type.Optional(
    Type.Enum(['json', 'text'], { description: 'text: the bare transcript; json by default' }),
  ),
  stream: Type.Optional(Type.Boolean({ description: 'Sends the text in pieces, as server-sent events' })),
};

/** Fields of both bodies; the reader checks the recording. */
export const TranscriptionFields = Type.Object({
  ...fields,
  input_audio: Type.Optional(Type.Object({ data: Type.Unknown(), format: AudioFormat })),
  timestamp_granularities: Type.Optional(Type.Unknown()),
});
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const TranscriptionRequest = Titled('TranscriptionRequest', {
  ...fields,
  input_audio: Type.Object(
    {
      data: Type.String({ description: 'Base64, not a data URI; up to 25 MB once decoded. No URLs' }),
      format: AudioFormat,
    },
    { description: 'The recording, up to 4 hours' },
  ),
});

export const TranscriptionForm = Titled('TranscriptionForm', {
  ...fields,
  file: Type.String({ format: 'binary', description: 'The recording, up to 25 MB and 4 hours' }),
});

export const Transcription = Titled('Transcription', {
  text: Type.String({ description: 'What was said' }),
  usage: Type.Object({
    type: Type.Literal('duration'),
    seconds: Type.Integer({ minimum: 0, description: 'Of audio, rounded up: what is billed' }),
    cost: Type.Number({ description: 'US dollars' }),
  }),
});
