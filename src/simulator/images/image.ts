/** Simulates image generation, a few drawings at a time. */
import { randomBytes } from 'node:crypto';
import { concatMap, defer, map, type Observable, range } from 'rxjs';
import { Semaphore } from '../../helpers/semaphore.ts';
import { plainMedia } from '../../media/media-data.ts';
import type { Drawn } from '../../ports/engines/image.ts';
import { offloaded } from '../../ports/offload.ts';
import { ownWork } from '../../ports/shared.ts';
import { readDirectives } from '../directives.ts';
import { withFaults } from '../faults.ts';
import type { Ticker } from '../ticker.ts';
import { type DrawingCall, drawImage, type SketchCall } from './drawing.ts';

/** Drawings at once, and those that may wait for them; each is a few threads' work and some pictures' memory. */
const atOnce = 3;
const mostWaiting = 256;

type DrawImages = (call: SketchCall, ticker: Ticker, subscription?: string) => Observable<Drawn>;

/** One for all calls of a simulator. */
export const createImageStudio = (): DrawImages => {
  const semaphore = new Semaphore({
    permits: atOnce,
    maxWaiters: mostWaiting,
    busy: 'The simulator is busy drawing, try again',
  });
  return (call, ticker, subscription = ownWork) =>
    defer(() => {
      const line = readDirectives(call.prompt, 'prompt');
      const seed = call.seed ?? randomBytes(8).readBigInt64BE();
      const drawing: DrawingCall = { ...call, prompt: line.rest, seed };
      return range(0, call.n).pipe(
        concatMap((index) =>
          offloaded((signal) => semaphore.run({ subscription, signal }, () => draw(drawing, index))).pipe(
            map((bytes): Drawn => ({ index, image: plainMedia(bytes), revisedPrompt: undefined })),
          ),
        ),
        withFaults(line.directives, ticker),
      );
    });
};

/** The library is loaded when something is to be drawn: it costs a start more than the rest of the simulator. */
const draw = async (call: DrawingCall, index: number): Promise<Buffer> =>
  drawImage((await import('sharp')).default, call, index);
