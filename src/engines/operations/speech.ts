/** Synthesizes speech with an engine and converts it to the gateway's sample format. */
import {
  catchError,
  defer,
  finalize,
  last,
  map,
  Observable,
  type OperatorFunction,
  type Subscriber,
  tap,
} from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { ApiError, fail } from '../../errors.ts';
import { JoinedBytes } from '../../helpers/joined-bytes.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Codec } from '../../ports/codec.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { type SpeechCall, type Spoken, sampleBytes, speechRate } from '../../ports/engines/speech.ts';
import type { Shared } from '../../ports/shared.ts';
import type { EngineCalls } from '../calls.ts';
import type { EngineReader } from '../engine-call.ts';
import type { SpeechWire } from '../wire.ts';
import { routeByHead } from './route-by-head.ts';
import { type AskedSound, type SoundFormat, soundFormat, undecodable } from './sound-format.ts';

type Speak = (model: Model, call: SpeechCall, flow: Flow) => Observable<Spoken>;

export const speakOverHttp =
  (wire: SpeechWire, calls: EngineCalls, codec: Shared<Codec> | undefined): Speak =>
  (model, call, flow) => {
    const { engine_format: format = 'pcm', engine_rate: rate = speechRate } =
      model.capabilities?.speech ?? {};
    const asked: AskedSound = { format, rate };
    if (codec === undefined && (format !== 'pcm' || rate !== speechRate)) throw noCodec();
    return defer(() => {
      const backpressure = new Backpressure();
      let type = '';
      // A file is complete before its first byte is sent; samples are sent as they are made.
      const options = { streams: format === 'pcm' };
      const sound = calls.read<Buffer>(
        wire.encode(model, call),
        { ...flow, backpressure },
        options,
        (subscriber) =>
          audioReader(wire, subscriber, (contentType) => {
            type = contentType;
          }),
      );
      return routeByHead(format === 'pcm' ? sound : sound.pipe(gathered), backpressure, (head, isAll) => {
        const found = soundFormat(head, isAll || format !== 'pcm', type, asked);
        if (found === undefined) return undefined;
        return isOurs(found)
          ? (samples) => paced(samples, flow.backpressure, backpressure)
          : (bytes) => decoded(codec, format === 'pcm' ? bytes : head, found, backpressure, flow);
      });
    }).pipe(wholeSamples);
  };

/** Samples as the gateway has them: nothing is to be converted. */
const isOurs = (found: SoundFormat): boolean =>
  found.kind === 'samples' && found.rate === speechRate && found.channels === 1;

/** The reader's pauses reach the engine. */
const paced = (samples: Observable<Buffer>, reader: Backpressure, source: Backpressure): Observable<Buffer> =>
  defer(() => {
    reader.attach(source);
    return samples.pipe(finalize(() => reader.detach(source)));
  });

const toSamples = {
  arguments: ['-vn', '-ac', '1', '-ar', String(speechRate), '-f', 's16le'],
  maxBytes: 512 * 1024 * 1024,
  timeoutMs: 30 * 60_000,
};

const longestFile = 64 * 1024 * 1024;

/** A file is decoded once it is there: no process waits for an engine. */
const gathered: OperatorFunction<Buffer, Buffer> = (source) =>
  defer(() => {
    const file = new JoinedBytes();
    return source.pipe(
      tap((piece) => {
        file.add(piece, true);
        if (file.length > longestFile) throw fail('engine_unreachable', 'The engine sent too long an answer');
      }),
      last(),
      map(() => file.take()),
    );
  });

const decoded = (
  codec: Shared<Codec> | undefined,
  sound: Observable<Buffer> | Buffer,
  found: SoundFormat,
  inputBackpressure: Backpressure,
  { subscription, backpressure }: Flow,
): Observable<Buffer> => {
  if (codec === undefined) throw noCodec();
  const named = inputOf(found);
  const conversion = {
    ...toSamples,
    inputBackpressure,
    ...(named === undefined ? {} : { inputArguments: named }),
  };
  return codec
    .for(subscription)
    .convert(sound, conversion, backpressure)
    .pipe(
      catchError((error: unknown) => {
        throw error instanceof ApiError && error.kind === 'invalid_request' ? undecodable(error) : error;
      }),
    );
};

/** Undefined where it has to be in a file first. */
const inputOf = (found: SoundFormat): readonly string[] | undefined => {
  if (found.kind === 'samples')
    return ['-f', 's16le', '-ar', String(found.rate), '-ac', String(found.channels)];
  return found.demuxer === undefined ? undefined : ['-f', found.demuxer];
};

const noCodec = () => fail('internal', 'The speech of this model cannot be decoded on this server');
const noSound = () => fail('engine_unreachable', 'The engine sent no sound');

const longestFailure = 64 * 1024;

/** Audio, or JSON in its place that reports a failure. */
const audioReader = (
  { failureOf }: SpeechWire,
  subscriber: Subscriber<Buffer>,
  onType: (contentType: string) => void,
): EngineReader => {
  let isAudio = true;
  let isEmpty = true;
  const text = new JoinedBytes();
  return {
    head: ({ contentType }) => {
      isAudio = !/^(?:text\/|application\/json)/i.test(contentType);
      onType(contentType);
    },
    bytes: (bytes) => {
      isEmpty = false;
      if (isAudio) subscriber.next(Buffer.from(bytes));
      else if (text.length < longestFailure) text.add(bytes);
    },
    end: () => {
      if (isAudio && !isEmpty) subscriber.complete();
      else subscriber.error(failureOf(text.take().toString('utf8')) ?? noSound());
    },
    error: (error) => subscriber.error(error),
  };
};

/** Reads end anywhere; samples are whole, and there must be some. */
const wholeSamples: OperatorFunction<Buffer, Spoken> = (source) =>
  new Observable((subscriber) => {
    let half: Buffer | undefined;
    let isEmpty = true;
    return source.subscribe({
      next: (bytes) => {
        const all = half === undefined ? bytes : Buffer.concat([half, bytes]);
        const whole = all.length - (all.length % sampleBytes);
        half = whole < all.length ? Buffer.from(all.subarray(whole)) : undefined;
        if (whole === 0) return;
        isEmpty = false;
        subscriber.next({ samples: all.subarray(0, whole) });
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => (isEmpty ? subscriber.error(noSound()) : subscriber.complete()),
    });
  });
