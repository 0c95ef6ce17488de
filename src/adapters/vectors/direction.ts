/** Normalizes vectors to length one, so that products are cosines; zero stays zero. */
import { fail } from '../../errors.ts';

export const direction = (vector: Float32Array): Float32Array<ArrayBuffer> => {
  let sum = 0;
  for (let index = 0; index < vector.length; index++) sum += (vector[index] ?? 0) ** 2;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  const unit = new Float32Array(vector.length);
  for (let index = 0; index < vector.length; index++) unit[index] = (vector[index] ?? 0) * scale;
  return unit;
};

/** Vectors of different sizes do not meet: a model was changed under a store. */
export const ensureSize = (dimensions: number | undefined, given: number): void => {
  if (dimensions !== given)
    throw fail('internal', `The vectors of this store have ${dimensions} dimensions, not ${given}`);
};
