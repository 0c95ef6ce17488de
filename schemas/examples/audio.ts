/** Examples of speech and transcription. */
import { namedEvents } from './events.ts';

export const speechExamples = {
  request: {
    'application/json': {
      'A sentence': { model: 'sluice/speech', input: 'The gates are open.' },
      'A speaker and a style': {
        model: 'sluice/speech',
        input: 'The gates are open.',
        voice: 'ada',
        instructions: 'Cheerful, a little out of breath',
        response_format: 'wav',
      },
      'Samples as they are generated': {
        model: 'sluice/speech',
        input: 'The gates are open.',
        response_format: 'pcm',
        stream_format: 'sse',
      },
    },
  },
  response: {
    'text/event-stream': {
      'A stream': namedEvents([
        { type: 'speech.audio.delta', audio: 'AAAAAAAAAAAAAAAAAAAAAA==' },
        {
          type: 'speech.audio.done',
          usage: { input_tokens: 5, output_tokens: 0, total_tokens: 5, seconds: 2, cost: 0.0006 },
        },
      ]),
    },
  },
};

const usage = { type: 'duration', seconds: 2, cost: 0.0002 };
const text = 'The gates are open.';

export const transcriptionExamples = {
  request: {
    'application/json': {
      'A recording': {
        model: 'sluice/transcribe',
        input_audio: { data: 'SUQzBAAAAAAAIlRTU0UAAAAOAAADTGF2', format: 'mp3' },
        language: 'en',
      },
    },
    'multipart/form-data': {
      'An uploaded recording': { model: 'sluice/transcribe', file: '(bytes of hello.mp3)' },
      'A stream': { model: 'sluice/transcribe', file: '(bytes of hello.mp3)', stream: true },
    },
  },
  response: {
    'application/json': { 'A transcript': { text, usage } },
    'text/plain': { 'The bare transcript': text },
    'text/event-stream': {
      'A stream': namedEvents([
        { type: 'transcript.text.delta', delta: 'The gates' },
        { type: 'transcript.text.delta', delta: ' are open.' },
        { type: 'transcript.text.done', text, usage },
      ]),
    },
  },
};

export const voicesExamples = {
  response: {
    'application/json': {
      'A built-in speaker': {
        object: 'list',
        data: [
          {
            id: 'ada',
            object: 'audio.voice',
            name: 'Ada',
            model: 'sluice/speech',
            language: null,
            description: null,
            kind: 'builtin',
          },
        ],
      },
    },
  },
};
