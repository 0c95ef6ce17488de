/** Streams the samples of songs while an engine renders them. */
import {
  catchError,
  defer,
  EMPTY,
  filter,
  map,
  type Observable,
  type OperatorFunction,
  retry,
  tap,
} from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { readWavBeginning } from '../../music/wav.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { RenderCall, RenderEvent, RenderFlow } from '../../ports/engines/render.ts';
import type { EngineCalls } from '../calls.ts';
import type { RenderWire } from '../wire.ts';
import { sharedBackpressure } from './fan-out.ts';
import type { Begun } from './render.ts';

interface Hearing {
  readonly wire: RenderWire;
  readonly calls: EngineCalls;
  readonly model: Model;
  readonly call: RenderCall;
  readonly begun: Begun;
  readonly flow: RenderFlow;
  readonly own: Flow;
}

interface Layout {
  readonly sample_rate: number;
  readonly channels: number;
}

/** A broken stream is restarted, from the song's beginning. */
const tries = 3;
const pauseMs = 1000;

/** A song that cannot be streamed is no failure: its file follows. */
export const hearSongs = (hearing: Hearing): Observable<RenderEvent> => {
  const { model, call, flow } = hearing;
  const streaming = model.capabilities?.music?.streaming;
  if (call.type !== 'music' || streaming?.progressive !== true) return EMPTY;
  const outputs = Array.from({ length: call.n }, (_, output) => output);
  return sharedBackpressure(flow.backpressure, outputs, (backpressure, output) =>
    hearSong(hearing, streaming, backpressure, output),
  );
};

const hearSong = (
  { wire, calls, call, begun, own }: Hearing,
  layout: Layout,
  backpressure: Backpressure,
  output: number,
): Observable<RenderEvent> =>
  defer(() => {
    let heard = 0;
    return defer(() => {
      let known = heard;
      return calls
        .download(begun.replica, wire.streamPath(call, begun.job.id, output), { ...own, backpressure })
        .pipe(
          wavSamples(layout),
          map((bytes) => {
            const skipped = Math.min(known, bytes.length);
            known -= skipped;
            return bytes.subarray(skipped);
          }),
          filter((bytes) => bytes.length > 0),
          tap((bytes) => {
            heard += bytes.length;
          }),
        );
    }).pipe(
      retry({ count: tries - 1, delay: pauseMs }),
      catchError(() => EMPTY),
      map((bytes): RenderEvent => ({ type: 'samples', output, bytes })),
    );
  });

/** Fails when their layout is not that of the model's row. */
const wavSamples =
  (layout: Layout): OperatorFunction<Buffer, Buffer> =>
  (source) =>
    defer(() => {
      let beginning: Buffer | undefined = Buffer.alloc(0);
      return source.pipe(
        map((bytes) => {
          if (beginning === undefined) return bytes;
          beginning = Buffer.concat([beginning, bytes]);
          const read = readWavBeginning(beginning);
          if (read === undefined) return beginning.subarray(0, 0);
          if (read.bits !== 16 || read.sampleRate !== layout.sample_rate || read.channels !== layout.channels)
            throw new Error('The engine streams samples of another layout');
          const samples = beginning.subarray(read.start);
          beginning = undefined;
          return samples;
        }),
      );
    });
