/** Embeds a text as a unit vector, close to texts with the same or related words. */
import { toUnitLength } from '../../helpers/vectors.ts';
import { hashText } from '../random.ts';
import { readFeatures } from './lexicon.ts';

export interface VectorShape {
  readonly dimensions: number;
  /** Truncatable: every feature is in each of a series of growing blocks. */
  readonly nested: boolean;
}

/** The first block of a nested vector; each further one doubles what is there. */
const firstBlock = 32;
/** Numbers of a block that one feature is in: with several, features that meet in one still differ in the others. */
const places = 4;

export function embedText(text: string, shape: VectorShape): Float32Array {
  const vector = new Float32Array(shape.dimensions);
  readFeatures(text, (hash, weight) => add(vector, shape, hash, weight));
  // A text without words still is somewhere.
  if (vector.every((value) => value === 0)) add(vector, shape, hashText(text), 1);
  return toUnitLength(vector);
}

function add(vector: Float32Array, { dimensions, nested }: VectorShape, hash: number, weight: number): void {
  let start = 0;
  for (let end = nested ? firstBlock : dimensions; start < dimensions; end *= 2) {
    const size = Math.min(end, dimensions) - start;
    const share = weight * Math.sqrt(size);
    let mixed = hash;
    for (let count = 0; count < places; count++) {
      mixed = mix(mixed + start + 1);
      const place = start + ((mixed >>> 1) % size);
      // Half of them count backwards, so that chance meetings cancel out.
      vector[place] = (vector[place] ?? 0) + (mixed & 1 ? share : -share);
    }
    start += size;
  }
}

/** Spreads a hash whose bits are not equally good (the finisher of MurmurHash3). */
function mix(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
