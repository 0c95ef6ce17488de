/** Transcribes recordings with an engine, converting formats that it cannot read. */
import { defer, map, type Observable, of, type Subscriber, switchMap } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { fail } from '../../errors.ts';
import { joinBytes } from '../../helpers/joined-bytes.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Codec } from '../../ports/codec.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { Recording, Transcribed, TranscriptionCall } from '../../ports/engines/transcription.ts';
import type { Shared } from '../../ports/shared.ts';
import { type EngineCalls, limitedReader, wholeBody } from '../calls.ts';
import type { EngineReader } from '../engine-call.ts';
import type { TranscriptDecoder, TranscriptionWire } from '../wire.ts';

type Transcribe = (model: Model, call: TranscriptionCall, flow: Flow) => Observable<Transcribed>;

export const transcribeOverHttp =
  (wire: TranscriptionWire, calls: EngineCalls, codec: Shared<Codec> | undefined): Transcribe =>
  (model, call, flow) =>
    readable(codec?.for(flow.subscription), model, call.audio).pipe(
      switchMap((audio) => {
        const streams = call.stream && model.capabilities?.transcription?.streams !== false;
        const request = wire.encode(model, { ...call, audio }, streams);
        return calls.read<Transcribed>(request, flow, { streams }, (subscriber) =>
          transcriptReader(wire, streams, subscriber),
        );
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
      joinBytes,
      map((bytes) => ({ bytes, container: first, seconds: audio.seconds })),
    );
  });

// ── the answer ─────────────────────────────────────────────────────────────────────────────────────

const longestAnswer = 32 * 1024 * 1024;

const transcriptReader = (
  wire: TranscriptionWire,
  streams: boolean,
  subscriber: Subscriber<Transcribed>,
): EngineReader => {
  const body = wholeBody();
  let settle = (): void => undefined;
  let stream: TranscriptDecoder | undefined;
  const emit = (text: string): void => {
    if (text !== '') subscriber.next({ text });
    if (stream?.failure !== undefined) throw stream.failure;
    if (stream?.done !== true) return;
    settle();
    subscriber.complete();
  };
  return limitedReader(subscriber, longestAnswer, {
    head: (head) => {
      settle = () => head.settle();
      // Some servers send a whole response although a stream was requested.
      if (streams && !head.contentType.startsWith('application/json')) stream = wire.decodeStream();
    },
    bytes: (bytes) => (stream === undefined ? body.push(Buffer.from(bytes)) : emit(stream.push(bytes))),
    end: () => {
      emit(stream === undefined ? wire.decodeWhole(body.end()) : stream.end());
      if (stream?.done === false) throw fail('engine_unreachable', 'The engine ended its answer early');
      subscriber.complete();
    },
  });
};
