/** Simulates video models with real MP4 files: H.264, and AAC unless silent. */
import { concat, defer, map, type Observable, of, switchMap, toArray } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Codec } from '../../ports/codec.ts';
import {
  RenderError,
  type RenderEvent,
  type RenderFlow,
  type RenderInput,
  type RenderOutput,
  type VideoCall,
} from '../../ports/engines/render.ts';
import { expectedVideoMs, frameCount } from '../../video/timing.ts';
import { readDirectives } from '../directives.ts';
import { hashText, Random } from '../random.ts';
import type { Ticker } from '../ticker.ts';
import { madePieces } from './made-pieces.ts';
import { renderClock } from './render-clock.ts';
import { type ClipPlan, clipPainter } from './video-frames.ts';

/** All that is asked of a model here. */
export type RenderingModel = Pick<Model, 'capabilities'>;

export interface RenderStudio {
  readonly codec: Codec;
  readonly ticker: Ticker;
  /** Of the time a real model is expected to take. */
  readonly timeScale: number;
}

/** Each dot of the drawing is so many pixels wide and high at the smaller resolution. */
const dot = 4;
const maxBytes = 256 * 1024 * 1024;
const timeoutMs = 300_000;
/** What is left for the file to be written. */
const lastShare = 0.05;

export const simulateVideo = (
  studio: RenderStudio,
  model: RenderingModel,
  call: VideoCall,
  flow: Pick<RenderFlow, 'input'>,
): Observable<RenderEvent> =>
  defer(() => {
    const { directives, rest } = readDirectives(call.prompt, 'prompt');
    const milliseconds = directives.render ?? expectedMs(model, call) * studio.timeScale;
    return concat(
      renderClock(milliseconds, directives, studio.ticker).pipe(
        map((done): RenderEvent => ({ type: 'progress', done: done * (1 - lastShare) })),
      ),
      planOf(model, call, rest, flow).pipe(map((plan) => clip(studio.codec, call, plan))),
    );
  });

const expectedMs = ({ capabilities }: RenderingModel, call: VideoCall): number => {
  const spec = capabilities?.video;
  if (spec === undefined) return call.seconds * 1000;
  const size = `${call.width}x${call.height}`;
  const resolution =
    Object.entries(spec.resolutions).find(([, { sizes }]) => Object.values(sizes).includes(size))?.[0] ?? '';
  const references = call.inputs.some(({ use }) => use === 'reference');
  return expectedVideoMs(spec, { seconds: call.seconds, resolution, references });
};

const planOf = (
  model: RenderingModel,
  call: VideoCall,
  text: string,
  flow: Pick<RenderFlow, 'input'>,
): Observable<ClipPlan> => {
  const spec = model.capabilities?.video;
  const scale = call.upscaled ? dot * 2 : dot;
  const size = { width: Math.round(call.width / scale), height: Math.round(call.height / scale) };
  const pictureOf = (use: RenderInput['use']): Observable<Buffer | undefined> => {
    const input = call.inputs.find((one) => one.use === use && one.kind === 'image' && isReadable(one));
    return input === undefined ? of(undefined) : rawPicture(input, flow, size);
  };
  return concat(pictureOf('first_frame'), pictureOf('last_frame')).pipe(
    toArray(),
    switchMap(([first, last]) =>
      ((first ?? last) ? of(first) : pictureOf('reference')).pipe(
        map(
          (shown): ClipPlan => ({
            ...size,
            frames: spec === undefined ? call.seconds * 24 : frameCount(spec, call.seconds),
            fps: spec?.fps ?? 24,
            text,
            details: `${call.width}x${call.height} ${call.steps} steps seed ${call.seed}`,
            seed: hashText(`${call.prompt}\n${call.seed}`),
            first: shown,
            last,
          }),
        ),
      ),
    ),
  );
};

/** There is no reader for these here; a clip from one shows no picture. */
const isReadable = ({ mediaType }: RenderInput): boolean => !/^image\/hei[cf]$/.test(mediaType);

const rawPicture = (
  input: RenderInput,
  flow: Pick<RenderFlow, 'input'>,
  { width, height }: { readonly width: number; readonly height: number },
): Observable<Buffer> => {
  const pieces = defer(() => flow.input(input, new Backpressure())).pipe(toArray());
  return pieces.pipe(switchMap((read) => resized(Buffer.concat(read), width, height)));
};

const resized = async (bytes: Buffer, width: number, height: number): Promise<Buffer> => {
  const { default: sharp } = await import('sharp');
  try {
    return await sharp(bytes, { limitInputPixels: 100_000_000 })
      .resize(width, height, { fit: 'cover' })
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer();
  } catch (cause) {
    throw new RenderError('invalid_input_media', 'A picture cannot be decoded', { cause });
  }
};

const clip = (codec: Codec, call: VideoCall, plan: ClipPlan): RenderOutput => {
  const seconds = plan.frames / plan.fps;
  return {
    type: 'output',
    index: 0,
    mediaType: 'video/mp4',
    seconds,
    width: call.width,
    height: call.height,
    bytes: (backpressure) => {
      const inputBackpressure = new Backpressure();
      const frames = madePieces(plan.frames, clipPainter(plan), inputBackpressure);
      const conversion = {
        inputArguments: [
          ...['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${plan.width}x${plan.height}`],
          ...['-r', String(plan.fps)],
        ],
        arguments: [
          ...(call.audio ? soundtrack(plan.seed, seconds) : ['-an']),
          ...['-vf', `scale=${call.width}:${call.height}:flags=neighbor`, '-pix_fmt', 'yuv420p'],
          ...'-c:v libx264 -preset ultrafast -crf 26 -movflags +faststart -f mp4'.split(' '),
        ],
        inputBackpressure,
        seekableOutput: true,
        maxBytes,
        timeoutMs,
      };
      return codec.convert(frames, conversion, backpressure);
    },
  };
};

/** Four notes of a chord, plucked in turn on both sides. */
const soundtrack = (seed: number, seconds: number): readonly string[] => {
  const random = new Random(seed);
  const root = 110 * 2 ** (random.integer(0, 11) / 12);
  const ratios = random.pick([
    [1, 5 / 4, 3 / 2, 2],
    [1, 6 / 5, 3 / 2, 2],
  ]);
  const note = (step: number) =>
    ratios
      .map((ratio, index) => `eq(mod(floor(t*4)+${step},4),${index})*${(root * ratio).toFixed(3)}`)
      .join('+');
  const side = (step: number) => `0.2*sin(2*PI*mod(t,0.25)*(${note(step)}))*exp(-5*mod(t,0.25))`;
  return [
    ...['-f', 'lavfi', '-i', `aevalsrc=exprs='${side(0)}|${side(2)}':s=44100:d=${seconds.toFixed(6)}`],
    ...['-map', '0:v', '-map', '1:a', '-c:a', 'aac', '-b:a', '96k', '-ac', '2'],
  ];
};
