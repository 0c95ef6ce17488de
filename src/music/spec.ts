/** The capability spec of a music model; 503 where it has no valid one. */
import type { Model } from '../../schemas/catalog.ts';
import type { MusicCapabilities } from '../../schemas/render-capabilities.ts';
import { fail } from '../errors.ts';

export type MusicSpec = MusicCapabilities;

export const musicSpec = (model: Model): MusicSpec => {
  const spec = validMusicSpec(model);
  if (spec === undefined)
    throw fail('unavailable', `The model ${model.id} is not served: it has no valid capability spec`);
  return spec;
};

/** Undefined where it is missing or contradicts itself. */
export const validMusicSpec = ({ capabilities }: Model): MusicSpec | undefined => {
  const spec = capabilities?.music;
  if (spec === undefined) return undefined;
  const { min, max, default: usual } = spec.duration;
  return min <= usual && usual <= max ? spec : undefined;
};

/** Songs of one request render one after another. */
export const expectedMusicMs = ({ render_time }: MusicSpec, seconds: number, songs: number): number =>
  Math.round(seconds * songs * render_time * 1000);
