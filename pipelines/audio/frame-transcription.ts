/** Pieces of a transcript in; one answer with all of it out, or an event for each as it comes. */
import { map, Observable, type OperatorFunction, reduce } from 'rxjs';
import { secondsCost } from '../../src/billing/cost.ts';
import { asApiError, errorBody } from '../../src/errors.ts';
import { jsonReply, type Reply, type WholeReply } from '../../src/ports/exchange.ts';
import type { Transcribed } from '../../src/ports/transcription.ts';
import { sseEvent } from '../core/sse-event.ts';
import { streamHead } from '../core/stream-head.ts';
import type { TranscriptionTask } from './read-transcription-request.ts';

export const frameTranscription = (task: TranscriptionTask): OperatorFunction<Transcribed, Reply> =>
  task.call.stream ? framePieces(task) : frameWhole(task);

const frameWhole =
  (task: TranscriptionTask): OperatorFunction<Transcribed, Reply> =>
  (source) =>
    source.pipe(
      reduce((text, piece) => text + piece.text, ''),
      map((text) => (task.format === 'text' ? textAnswer(text) : jsonReply({ text, usage: usageOf(task) }))),
    );

const textAnswer = (text: string): WholeReply => ({
  kind: 'whole',
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: text,
});

const head = streamHead(': keep-alive\n\n');

/** A failure after the first piece ends the stream with words of its own. */
const framePieces =
  (task: TranscriptionTask): OperatorFunction<Transcribed, Reply> =>
  (source) =>
    new Observable((subscriber) => {
      let text = '';
      let started = false;
      const start = (): void => {
        if (!started) subscriber.next(head);
        started = true;
      };
      const last = (bytes: string): void => {
        start();
        subscriber.next({ kind: 'bytes', bytes });
        subscriber.complete();
      };
      return source.subscribe({
        next: (piece) => {
          start();
          text += piece.text;
          subscriber.next({
            kind: 'bytes',
            bytes: sseEvent({ type: 'transcript.text.delta', delta: piece.text }),
          });
        },
        complete: () => last(sseEvent({ type: 'transcript.text.done', text, usage: usageOf(task) })),
        error: (error: unknown) => {
          if (started) last(sseEvent({ type: 'transcript.text.error', error: errorBody(asApiError(error)) }));
          else subscriber.error(error);
        },
      });
    });

const usageOf = ({ seconds, model }: TranscriptionTask) => ({
  type: 'duration',
  seconds,
  cost: Number(secondsCost(seconds, model.pricing)),
});
