/** A speech call for an engine over HTTP in; its speech as samples of the house's own kind out, as the engine sends it. */
import { catchError, defer, Observable, type OperatorFunction, type Subscriber, tap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { ApiError, fail } from '../errors.ts';
import type { Codec } from '../ports/codec.ts';
import { Demand } from '../ports/demand.ts';
import type { Flow } from '../ports/engine.ts';
import { type SpeechCall, type Spoken, sampleBytes, speechRate } from '../ports/speech.ts';
import type { EngineHead, EngineReader } from './http-call.ts';
import type { SendRequest, SpeechWire } from './wire.ts';

type Speak = (model: Model, call: SpeechCall, flow: Flow) => Observable<Spoken>;

const maxBytes = 512 * 1024 * 1024;
const timeoutMs = 30 * 60_000;

export const speakOverHttp = (wire: SpeechWire, send: SendRequest, codec: Codec | undefined): Speak => {
  const sound = (model: Model, call: SpeechCall, flow: Flow): Observable<Buffer> =>
    new Observable((subscriber) => {
      // A file is made before its first byte is sent; samples are sent as they are made.
      const streams = (model.capabilities?.speech?.engine_format ?? 'pcm') === 'pcm';
      const request = { path: wire.path, body: wire.encode(model, call), streams };
      const running = send(request, flow, new SoundReader(wire, subscriber));
      return () => running.close();
    });

  return (model, call, flow) => {
    const format = decoderOf(model);
    if (format === undefined) return sound(model, call, flow).pipe(wholeSamples);
    if (codec === undefined)
      throw fail('internal', `The speech of model ${model.id} cannot be decoded on this server`);
    return defer(() =>
      decoded(codec, format, (demand) => sound(model, call, { ...flow, demand }), flow.demand),
    );
  };
};

/** What the engine says of itself stands; sound that cannot be decoded is a failure of the engine's as well. */
const decoded = (
  codec: Codec,
  format: readonly string[],
  sound: (demand: Demand) => Observable<Buffer>,
  wanted: Demand,
): Observable<Spoken> => {
  const demand = new Demand();
  const conversion = {
    inputArguments: format,
    inputDemand: demand,
    arguments: ['-vn', '-ac', '1', '-ar', String(speechRate), '-f', 's16le'],
    maxBytes,
    timeoutMs,
  };
  let said: unknown;
  const source = sound(demand).pipe(
    tap({
      error: (error: unknown) => {
        said = error;
      },
    }),
  );
  return codec.convert(source, conversion, wanted).pipe(
    wholeSamples,
    catchError((error: unknown) => {
      const isOurs = error === said || !(error instanceof ApiError) || error.kind !== 'invalid_request';
      throw isOurs
        ? error
        : fail('engine_unreachable', 'The engine sent sound that cannot be decoded', { cause: error });
    }),
  );
};

const formats = { wav: 'wav', mp3: 'mp3', opus: 'ogg', flac: 'flac', aac: 'aac' } as const;

/** What ffmpeg is told of the engine's format; undefined when its samples are as the house wants them. */
const decoderOf = ({ capabilities }: Model): readonly string[] | undefined => {
  const { engine_format: format = 'pcm', engine_rate: rate = speechRate } = capabilities?.speech ?? {};
  if (format !== 'pcm') return ['-f', formats[format]];
  return rate === speechRate ? undefined : ['-f', 's16le', '-ar', String(rate), '-ac', '1'];
};

const longestFailure = 64 * 1024;

/** Sound, or JSON in its place that tells of a failure. */
class SoundReader implements EngineReader {
  readonly #wire: SpeechWire;
  readonly #subscriber: Subscriber<Buffer>;
  #isSound = true;
  #text = '';
  #any = false;

  constructor(wire: SpeechWire, subscriber: Subscriber<Buffer>) {
    this.#wire = wire;
    this.#subscriber = subscriber;
  }

  head({ contentType }: EngineHead): void {
    this.#isSound = !/^(?:text\/|application\/json)/i.test(contentType);
  }

  bytes(bytes: Buffer): void {
    this.#any = true;
    if (this.#isSound) this.#subscriber.next(bytes);
    else if (this.#text.length < longestFailure) this.#text += bytes.toString('utf8');
  }

  end(): void {
    if (this.#isSound && this.#any) this.#subscriber.complete();
    else
      this.#subscriber.error(
        this.#wire.failureOf(this.#text) ?? fail('engine_unreachable', 'The engine sent no sound'),
      );
  }

  error(error: ApiError): void {
    this.#subscriber.error(error);
  }
}

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
