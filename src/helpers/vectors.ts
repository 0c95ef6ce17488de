/** Writes, truncates and normalises embedding vectors. */
import type { VectorEncoding, VectorJson } from '../ports/engines/embedding.ts';

export const writeVector = (vector: Float32Array, encoding: VectorEncoding): VectorJson =>
  Buffer.from(encoding === 'base64' ? `"${writeBase64(vector)}"` : writeNumbers(vector), 'latin1');

const writeBase64 = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** Nine digits distinguish every float32 from its neighbours. */
const writeNumbers = (vector: Float32Array): string => {
  let json = '';
  for (let index = 0; index < vector.length; index++) {
    const value = vector[index] ?? 0;
    json += value === 0 ? ',0' : `,${value.toPrecision(9)}`;
  }
  return `[${json.slice(1)}]`;
};

/** The first numbers, scaled back to unit length. */
export const cutVector = (vector: Float32Array, dimensions: number): Float32Array =>
  dimensions >= vector.length ? vector : toUnitLength(vector.slice(0, dimensions));

/** Changes the vector in place; one of zeros stays as it is. */
export const toUnitLength = (vector: Float32Array): Float32Array => {
  let sum = 0;
  for (let index = 0; index < vector.length; index++) sum += (vector[index] ?? 0) ** 2;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 1;
  for (let index = 0; index < vector.length; index++) vector[index] = (vector[index] ?? 0) * scale;
  return vector;
};
