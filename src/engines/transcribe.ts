/** Transcribes recordings with an engine, converting formats that it cannot read. */
import { defer, map, type Observable, of, type Subscriber, switchMap, toArray } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { type ApiError, asApiError, fail } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec } from '../ports/codec.ts';
import type { Flow } from '../ports/engine.ts';
import type { Recording, Transcribed, TranscriptionCall } from '../ports/transcription.ts';
import type { EngineCalls } from './calls.ts';
import type { EngineHead, EngineReader } from './http-call.ts';
import type { TranscriptDecoder, TranscriptionWire } from './wire.ts';

type Transcribe = (model: Model, call: TranscriptionCall, flow: Flow) => Observable<Transcribed>;

export const transcribeOverHttp =
  (wire: TranscriptionWire, calls: EngineCalls, codec: Codec | undefined): Transcribe =>
  (model, call, flow) =>
    readable(codec, model, call.audio).pipe(
      switchMap((audio) => {
        const streams = call.stream && model.capabilities?.transcription?.streams !== false;
        const request = wire.encode(model, { ...call, audio }, streams);
        const readerFor = (subscriber: Subscriber<Transcribed>) =>
          new TranscriptReader(wire, streams, subscriber);
        return calls.read(request, flow, { streams }, readerFor);
      }),
    );

// ── formats ────────────────────────────────────────────────────────────────────────────────────────

/** Small, without loss to speech recognition. */
const targets: Readonly<Record<string, readonly string[]>> = {
  wav: ['-c:a', 'pcm_s16le', '-f', 'wav'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  mp3: ['-c:a', 'libmp3lame', '-b:a', '64k', '-f', 'mp3'],
  ogg: ['-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg'],
  webm: ['-c:a', 'libopus', '-b:a', '32k', '-f', 'webm'],
  m4a: ['-c:a', 'aac', '-b:a', '64k', '-f', 'ipod'],
  aac: ['-c:a', 'aac', '-b:a', '64k', '-f', 'adts'],
};
const maxBytes = 512 * 1024 * 1024;
const timeoutMs = 10 * 60_000;

const readable = (codec: Codec | undefined, model: Model, audio: Recording): Observable<Recording> =>
  defer(() => {
    const formats = model.capabilities?.transcription?.formats;
    const [first] = formats ?? [];
    if (formats === undefined || first === undefined || formats.some((format) => format === audio.container))
      return of(audio);
    if (codec === undefined)
      throw fail('internal', `Recordings for model ${model.id} cannot be converted on this server`);
    const conversion = {
      arguments: ['-vn', '-ac', '1', '-ar', '16000', ...(targets[first] ?? [])],
      seekableOutput: true,
      maxBytes,
      timeoutMs,
    };
    return codec.convert(audio.bytes, conversion, new Backpressure()).pipe(
      toArray(),
      map((pieces) => ({ bytes: Buffer.concat(pieces), container: first, seconds: audio.seconds })),
    );
  });

// ── the answer ─────────────────────────────────────────────────────────────────────────────────────

const longestAnswer = 32 * 1024 * 1024;

class TranscriptReader implements EngineReader {
  readonly #wire: TranscriptionWire;
  readonly #streams: boolean;
  readonly #subscriber: Subscriber<Transcribed>;
  #head: EngineHead | undefined;
  #stream: TranscriptDecoder | undefined;
  #body: Buffer[] = [];
  #received = 0;

  constructor(wire: TranscriptionWire, streams: boolean, subscriber: Subscriber<Transcribed>) {
    this.#wire = wire;
    this.#streams = streams;
    this.#subscriber = subscriber;
  }

  head(head: EngineHead): void {
    this.#head = head;
    // Some servers send a whole response although a stream was requested.
    if (this.#streams && !head.contentType.startsWith('application/json'))
      this.#stream = this.#wire.decodeStream();
  }

  bytes(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.#received > longestAnswer) {
      this.#subscriber.error(fail('engine_unreachable', 'The engine sent too long an answer'));
      return;
    }
    const stream = this.#stream;
    if (stream === undefined) this.#body.push(Buffer.from(bytes));
    else this.#guarded(() => this.#emit(stream.push(bytes), stream));
  }

  end(): void {
    const stream = this.#stream;
    this.#guarded(() => {
      if (stream === undefined) {
        this.#next(this.#wire.decodeWhole(Buffer.concat(this.#body)));
        this.#subscriber.complete();
        return;
      }
      this.#emit(stream.end(), stream);
      if (!stream.done)
        this.#subscriber.error(fail('engine_unreachable', 'The engine ended its answer early'));
    });
  }

  error(error: ApiError): void {
    this.#subscriber.error(error);
  }

  #emit(text: string, stream: TranscriptDecoder): void {
    this.#next(text);
    if (stream.failure !== undefined) this.#subscriber.error(stream.failure);
    else if (stream.done) {
      this.#head?.settle();
      this.#subscriber.complete();
    }
  }

  #next(text: string): void {
    if (text !== '') this.#subscriber.next({ text });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#subscriber.error(asApiError(thrown));
    }
  }
}
