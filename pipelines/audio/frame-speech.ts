/** Sound in; one file out with what it cost, samples as they come, or events that carry either. */
import { map, Observable, type OperatorFunction, toArray } from 'rxjs';
import type { SpeechFormat } from '../../schemas/speech.ts';
import { secondsCost } from '../../src/billing/cost.ts';
import { asApiError, errorBody } from '../../src/errors.ts';
import type { Exchange, Head, Reply, WholeReply } from '../../src/ports/exchange.ts';
import { estimatePiece } from '../../src/tokens/prompt.ts';
import { PacedBytes } from '../core/paced-bytes.ts';
import { sseEvent } from '../core/sse-event.ts';
import { streamHead } from '../core/stream-head.ts';
import type { SpeechCount } from './count-speech.ts';
import type { SpeechTask } from './read-speech-request.ts';

const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm;rate=24000;channels=1',
};

export const frameSpeech = (
  exchange: Exchange,
  task: SpeechTask,
  count: SpeechCount,
): OperatorFunction<Buffer, Reply> => {
  if (task.sse) return task.streams ? frameEvents(task, count) : frameOneEvent(exchange, task, count);
  return task.streams ? frameSamples : frameFile(task, count);
};

// ── plain sound ────────────────────────────────────────────────────────────────────────────────────

const samplesHead: Head = { kind: 'head', status: 200, headers: { 'content-type': mediaTypes.pcm } };

/** A failure in the middle cuts the connection: there is no other word for it among samples. */
const frameSamples: OperatorFunction<Buffer, Reply> = (source) =>
  new Observable((subscriber) => {
    let started = false;
    const start = (): void => {
      if (!started) subscriber.next(samplesHead);
      started = true;
    };
    return source.subscribe({
      next: (bytes) => {
        start();
        subscriber.next({ kind: 'bytes', bytes });
      },
      complete: () => {
        start();
        subscriber.complete();
      },
      error: (error: unknown) => subscriber.error(error),
    });
  });

const frameFile =
  (task: SpeechTask, count: SpeechCount): OperatorFunction<Buffer, Reply> =>
  (source) =>
    source.pipe(
      toArray(),
      map(
        (pieces): WholeReply => ({
          kind: 'whole',
          status: 200,
          headers: {
            'content-type': mediaTypes[task.format],
            'x-usage-seconds': String(count.seconds),
            'x-usage-cost': secondsCost(count.seconds, task.model.pricing),
          },
          body: Buffer.concat(pieces),
        }),
      ),
    );

// ── events ─────────────────────────────────────────────────────────────────────────────────────────

const eventsHead = streamHead(': keep-alive\n\n');
const deltaStart = 'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"';
const deltaEnd = '"}\n\n';

const frameEvents =
  (task: SpeechTask, count: SpeechCount): OperatorFunction<Buffer, Reply> =>
  (source) =>
    new Observable((subscriber) => {
      let started = false;
      const send = (bytes: string): void => {
        if (!started) subscriber.next(eventsHead);
        started = true;
        subscriber.next({ kind: 'bytes', bytes });
      };
      return source.subscribe({
        next: (samples) => send(deltaStart + samples.toString('base64') + deltaEnd),
        complete: () => {
          send(doneEvent(task, count));
          subscriber.complete();
        },
        error: (error: unknown) => {
          if (!started) {
            subscriber.error(error);
            return;
          }
          send(sseEvent({ type: 'speech.audio.error', error: errorBody(asApiError(error)) }));
          subscriber.complete();
        },
      });
    });

/** A whole file in one event: its base64 is made while it is sent. */
const frameOneEvent =
  ({ backpressure }: Exchange, task: SpeechTask, count: SpeechCount): OperatorFunction<Buffer, Reply> =>
  (source) =>
    new Observable((subscriber) => {
      const pieces: Buffer[] = [];
      let paced: PacedBytes | undefined;
      const sound = source.subscribe({
        next: (piece) => pieces.push(piece),
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          subscriber.next(eventsHead);
          paced = new PacedBytes(oneEvent(pieces, doneEvent(task, count)), backpressure, subscriber);
          paced.start();
        },
      });
      return () => {
        sound.unsubscribe();
        paced?.stop();
      };
    });

/** A multiple of three, so that the pieces of base64 make one. */
const slice = 48 * 1024;

function* oneEvent(pieces: readonly Buffer[], done: string): Generator<string> {
  yield deltaStart;
  const sound = Buffer.concat(pieces);
  for (let at = 0; at < sound.length; at += slice) yield sound.toString('base64', at, at + slice);
  yield deltaEnd + done;
}

const doneEvent = ({ call, model }: SpeechTask, { seconds }: SpeechCount): string => {
  const read = estimatePiece(call.input.length);
  return sseEvent({
    type: 'speech.audio.done',
    usage: {
      input_tokens: read,
      output_tokens: 0,
      total_tokens: read,
      seconds,
      cost: Number(secondsCost(seconds, model.pricing)),
    },
  });
};
