/** Generates images with an engine and fetches those it returns as links. */
import { map, merge, type Observable, of, switchMap } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { Drawn, ImageCall } from '../../ports/engines/image.ts';
import type { MediaData } from '../../ports/media.ts';
import type { EngineCalls } from '../calls.ts';
import type { ImageWire } from '../wire.ts';

interface ImageSetting {
  readonly calls: EngineCalls;
  /** A link that the engine gave → what is there. */
  readonly follow: (url: string, flow: Flow) => Observable<MediaData>;
  /** The engine makes one image at a time: several are several calls. */
  readonly fanOut: boolean;
}

export const imageOverHttp = (
  wire: ImageWire,
  { calls, follow, fanOut }: ImageSetting,
): ((model: Model, call: ImageCall, flow: Flow) => Observable<Drawn>) => {
  const draw = (model: Model, call: ImageCall, flow: Flow, first: number): Observable<Drawn> =>
    calls
      .decoded(wire.encode(model, call), flow, wire.decode(call))
      .pipe(
        switchMap((made) =>
          merge(
            ...made.map(({ image, revisedPrompt }, index) =>
              (typeof image === 'string' ? follow(image, flow) : of(image)).pipe(
                map((found): Drawn => ({ index: first + index, image: found, revisedPrompt })),
              ),
            ),
          ),
        ),
      );
  return (model, call, flow) => {
    if (!fanOut || call.n === 1) return draw(model, call, flow, 0);
    const singles = Array.from({ length: call.n }, (_, index) => single(call, index));
    return merge(...singles.map((each, index) => draw(model, each, flow, index)));
  };
};

/** With one seed for all, every image would be the same. */
const single = (call: ImageCall, index: number): ImageCall => ({
  ...call,
  n: 1,
  seed: call.seed === undefined ? undefined : BigInt.asIntN(64, call.seed + BigInt(index)),
});
