/** Synthesizes speech with an engine and converts it to the gateway's sample format. */
import {
  catchError,
  defer,
  last,
  map,
  Observable,
  type OperatorFunction,
  type Subscriber,
  switchMap,
  tap,
} from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { ApiError, fail } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec } from '../ports/codec.ts';
import type { Flow } from '../ports/engine.ts';
import { type SpeechCall, type Spoken, sampleBytes, speechRate } from '../ports/speech.ts';
import type { EngineCalls } from './calls.ts';
import type { EngineReader } from './http-call.ts';
import type { SpeechWire } from './wire.ts';

type Speak = (model: Model, call: SpeechCall, flow: Flow) => Observable<Spoken>;

export const speakOverHttp = (wire: SpeechWire, calls: EngineCalls, codec: Codec | undefined): Speak => {
  const sound = (model: Model, call: SpeechCall, flow: Flow): Observable<Buffer> => {
    // A file is complete before its first byte is sent; samples are sent as they are made.
    const streams = (model.capabilities?.speech?.engine_format ?? 'pcm') === 'pcm';
    return calls.read(wire.encode(model, call), flow, { streams }, (subscriber) =>
      audioReader(wire, subscriber),
    );
  };

  return (model, call, flow) => {
    const { engine_format: format = 'pcm', engine_rate: rate = speechRate } =
      model.capabilities?.speech ?? {};
    if (format === 'pcm' && rate === speechRate) return sound(model, call, flow).pipe(wholeSamples);
    if (codec === undefined)
      throw fail('internal', `The speech of model ${model.id} cannot be decoded on this server`);
    if (format === 'pcm')
      return defer(() => {
        const backpressure = new Backpressure();
        const source = sound(model, call, { ...flow, backpressure });
        const inputArguments = ['-f', 's16le', '-ar', String(rate), '-ac', '1'];
        return codec.convert(
          source,
          { ...toSamples, inputArguments, inputBackpressure: backpressure },
          flow.backpressure,
        );
      }).pipe(wholeSamples);
    return sound(model, call, flow).pipe(
      gathered,
      switchMap((file) => decoded(codec, file, ['-f', demuxers[format]], flow.backpressure)),
      wholeSamples,
    );
  };
};

const demuxers = { wav: 'wav', mp3: 'mp3', opus: 'ogg', flac: 'flac', aac: 'aac' } as const;
const toSamples = {
  arguments: ['-vn', '-ac', '1', '-ar', String(speechRate), '-f', 's16le'],
  maxBytes: 512 * 1024 * 1024,
  timeoutMs: 30 * 60_000,
};

const longestFile = 64 * 1024 * 1024;

/** A file is decoded once it is there: no process waits for an engine. */
const gathered: OperatorFunction<Buffer, Buffer> = (source) =>
  defer(() => {
    const pieces: Buffer[] = [];
    let length = 0;
    return source.pipe(
      tap((piece) => {
        length += piece.length;
        if (length > longestFile) throw fail('engine_unreachable', 'The engine sent too long an answer');
        pieces.push(piece);
      }),
      last(),
      map(() => Buffer.concat(pieces)),
    );
  });

const decoded = (
  codec: Codec,
  file: Buffer,
  inputArguments: readonly string[],
  backpressure: Backpressure,
): Observable<Buffer> =>
  codec.convert(file, { ...toSamples, inputArguments }, backpressure).pipe(
    catchError((error: unknown) => {
      throw error instanceof ApiError && error.kind === 'invalid_request'
        ? fail('engine_unreachable', 'The engine sent sound that cannot be decoded', { cause: error })
        : error;
    }),
  );

const longestFailure = 64 * 1024;

/** Audio, or JSON in its place that reports a failure. */
const audioReader = ({ failureOf }: SpeechWire, subscriber: Subscriber<Buffer>): EngineReader => {
  let isAudio = true;
  let isEmpty = true;
  let text = '';
  return {
    head: ({ contentType }) => {
      isAudio = !/^(?:text\/|application\/json)/i.test(contentType);
    },
    bytes: (bytes) => {
      isEmpty = false;
      if (isAudio) subscriber.next(Buffer.from(bytes));
      else if (text.length < longestFailure) text += bytes.toString('utf8');
    },
    end: () => {
      if (isAudio && !isEmpty) subscriber.complete();
      else subscriber.error(failureOf(text) ?? fail('engine_unreachable', 'The engine sent no sound'));
    },
    error: (error) => subscriber.error(error),
  };
};

/** Reads end anywhere; samples are whole. */
const wholeSamples: OperatorFunction<Buffer, Spoken> = (source) =>
  new Observable((subscriber) => {
    let half: Buffer | undefined;
    return source.subscribe({
      next: (bytes) => {
        const all = half === undefined ? bytes : Buffer.concat([half, bytes]);
        const whole = all.length - (all.length % sampleBytes);
        half = whole < all.length ? Buffer.from(all.subarray(whole)) : undefined;
        if (whole > 0) subscriber.next({ samples: all.subarray(0, whole) });
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
  });
