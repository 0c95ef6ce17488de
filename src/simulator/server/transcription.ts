/** Serves transcriptions, whole or as events. */
import type { ServerResponse } from 'node:http';
import { ApiError, asApiError, fail } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { TranscriptionCall } from '../../ports/engines/transcription.ts';
import { ConnectionLost } from '../faults.ts';
import { simulateTranscription } from '../speech/transcribe.ts';
import type { Quirks } from './quirks.ts';
import type { Form } from './read-body.ts';
import { engineError, sendError, sendEventsHead, sendJson } from './responses.ts';
import type { SoundStudio } from './speech.ts';

export async function answerTranscription(
  { fields, files }: Form,
  studio: SoundStudio,
  response: ServerResponse,
  quirks: Quirks,
): Promise<void> {
  const bytes = files.find(({ field }) => field === 'file')?.bytes;
  if (bytes === undefined) throw fail('invalid_request', 'file is missing');
  const call: TranscriptionCall = {
    audio: { bytes, ...(await factsOf(studio, bytes)) },
    language: fields.language,
    prompt: fields.prompt,
    temperature: undefined,
    stream: fields.stream === 'true',
  };
  send(call, studio, response, quirks);
}

const factsOf = async ({ codec }: SoundStudio, bytes: Buffer) => {
  try {
    return await codec.probe(bytes);
  } catch (error) {
    throw error instanceof ApiError && error.kind === 'invalid_request'
      ? fail('invalid_request', `file ${error.message}`, { cause: error })
      : error;
  }
};

const send = (
  call: TranscriptionCall,
  studio: SoundStudio,
  response: ServerResponse,
  quirks: Quirks,
): void => {
  const usage = { type: 'duration', seconds: Math.ceil(call.audio.seconds) };
  const backpressure = new Backpressure();
  const write = (value: { readonly type: string; readonly [field: string]: unknown }): void => {
    if (!response.headersSent) sendEventsHead(response);
    if (!response.write(`data: ${JSON.stringify(value)}\n\n`)) backpressure.pause();
  };
  let text = '';
  response.on('drain', () => backpressure.resume());
  const listening = simulateTranscription(call, { backpressure }, studio).subscribe({
    next: (piece) => {
      text += piece.text;
      if (call.stream) write({ type: 'transcript.text.delta', delta: piece.text });
    },
    error: (thrown: unknown) => {
      const error = asApiError(thrown);
      if (error.cause instanceof ConnectionLost) response.destroy();
      else if (response.headersSent) {
        write({ type: 'error', ...engineError(error) });
        response.end();
      } else sendError(response, error, quirks);
    },
    complete: () => {
      if (!call.stream) {
        sendJson(response, JSON.stringify({ text, usage }));
        return;
      }
      write({ type: 'transcript.text.done', text, usage });
      response.end();
    },
  });
  response.on('close', () => listening.unsubscribe());
};
