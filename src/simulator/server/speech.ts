/** Serves speech requests: raw samples as they are made, or an encoded file. */
import type { ServerResponse } from 'node:http';
import { map, type Observable } from 'rxjs';
import { createCodec } from '../../codec/codec.ts';
import { asApiError, fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import { type SpeechCall, type SpeechVoice, speechRate } from '../../ports/engines/speech.ts';
import { ConnectionLost } from '../faults.ts';
import { SpeechMemory } from '../speech/memory.ts';
import { Speaker, simulateSpeech } from '../speech/speech.ts';
import type { Ticker } from '../ticker.ts';
import type { Quirks } from './quirks.ts';
import { sendError } from './responses.ts';

/** The speech synthesis and recognition of one server. */
export const createSoundStudio = (ticker: Ticker, rate: number) => ({
  speaker: new Speaker(),
  memory: new SpeechMemory(),
  codec: createCodec(),
  ticker,
  /** Pieces of text a second. */
  rate,
});

export type SoundStudio = ReturnType<typeof createSoundStudio>;

export interface SpeechRequest {
  readonly model: string;
  readonly call: SpeechCall;
  readonly format: string;
}

interface Format {
  readonly mediaType: string;
  /** Undefined: samples as they are. */
  readonly encoder: readonly string[] | undefined;
}

const formats: Readonly<Record<string, Format>> = {
  pcm: { mediaType: 'audio/pcm', encoder: undefined },
  mp3: { mediaType: 'audio/mpeg', encoder: ['-c:a', 'libmp3lame', '-b:a', '96k', '-f', 'mp3'] },
  opus: { mediaType: 'audio/opus', encoder: ['-c:a', 'libopus', '-f', 'ogg'] },
  flac: { mediaType: 'audio/flac', encoder: ['-f', 'flac'] },
  wav: { mediaType: 'audio/wav', encoder: ['-f', 'wav'] },
  aac: { mediaType: 'audio/aac', encoder: ['-c:a', 'aac', '-f', 'adts'] },
};

export function readSpeech(body: unknown): SpeechRequest {
  if (!isObject(body) || typeof body.input !== 'string' || typeof body.model !== 'string')
    throw fail('invalid_request', 'model and input must be strings');
  const format = typeof body.response_format === 'string' ? body.response_format : 'mp3';
  if (!Object.hasOwn(formats, format))
    throw fail('invalid_request', `response_format must be one of ${Object.keys(formats).join(', ')}`);
  const call: SpeechCall = {
    input: body.input,
    voice: voiceOf(body),
    instructions: undefined,
    language: undefined,
    seed: undefined,
    temperature: undefined,
    topP: undefined,
    topK: undefined,
  };
  return { model: body.model, call, format };
}

/** Every name is a voice; a description or a clip is one as well. */
const voiceOf = (body: Readonly<Record<string, unknown>>): SpeechVoice => {
  const { voice, instructions, ref_audio: clip } = body;
  if (typeof clip === 'string') return { kind: 'design', description: clip };
  if (typeof voice === 'string') return { kind: 'builtin', id: voice };
  return typeof instructions === 'string'
    ? { kind: 'design', description: instructions }
    : { kind: 'builtin', id: 'ada' };
};

const maxBytes = 256 * 1024 * 1024;
const timeoutMs = 10 * 60_000;

/** A failure before the first byte is an answer of its own; after it the connection is lost. */
export function answerSpeech(
  { call, format }: SpeechRequest,
  studio: SoundStudio,
  response: ServerResponse,
  quirks: Quirks,
): void {
  const { mediaType = '', encoder } = formats[format] ?? {};
  const backpressure = new Backpressure();
  response.on('drain', () => backpressure.resume());
  const speaking = sound(call, studio, encoder, backpressure).subscribe({
    next: (bytes) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': mediaType });
      if (!response.write(bytes)) backpressure.pause();
    },
    error: (thrown: unknown) => {
      const error = asApiError(thrown);
      if (response.headersSent || error.cause instanceof ConnectionLost) response.destroy();
      else sendError(response, error, quirks);
    },
    complete: () => response.end(),
  });
  response.on('close', () => speaking.unsubscribe());
}

const sound = (
  call: SpeechCall,
  studio: SoundStudio,
  encoder: readonly string[] | undefined,
  backpressure: Backpressure,
): Observable<Buffer> => {
  const inputBackpressure = encoder === undefined ? backpressure : new Backpressure();
  const samples = simulateSpeech(call, { backpressure: inputBackpressure }, studio).pipe(
    map((spoken) => spoken.samples),
  );
  if (encoder === undefined) return samples;
  const inputArguments = ['-f', 's16le', '-ar', String(speechRate), '-ac', '1'];
  const conversion = { inputArguments, inputBackpressure, arguments: encoder, maxBytes, timeoutMs };
  return studio.codec.convert(samples, conversion, backpressure);
};
