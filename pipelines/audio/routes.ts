/** Speech and transcription: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { audioDocs } from './docs.ts';
import { audioSpeech } from './speech.ts';
import { audioTranscriptions } from './transcriptions.ts';
import { audioVoices } from './voices.ts';

export const audioRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/audio/speech',
    access: 'key',
    // A clip comes as base64.
    bodyLimit: 40 * 1024 * 1024,
    pipeline: audioSpeech(ports),
    doc: audioDocs.speech,
  },
  {
    method: 'POST',
    path: '/audio/transcriptions',
    access: 'key',
    // Room for a recording as base64, and for one that is too large to be told so.
    bodyLimit: 48 * 1024 * 1024,
    pipeline: audioTranscriptions(ports),
    doc: audioDocs.transcriptions,
  },
  {
    method: 'GET',
    path: '/audio/voices',
    access: 'key',
    bodyLimit: 0,
    pipeline: audioVoices(ports),
    doc: audioDocs.voices,
  },
];
