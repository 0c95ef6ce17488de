/** A vector in; the same direction out, of length one: products of such are cosines. A zero stays zero. */
export const direction = (vector: Float32Array): Float32Array<ArrayBuffer> => {
  let sum = 0;
  for (let index = 0; index < vector.length; index++) sum += (vector[index] ?? 0) ** 2;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  const unit = new Float32Array(vector.length);
  for (let index = 0; index < vector.length; index++) unit[index] = (vector[index] ?? 0) * scale;
  return unit;
};
