/** How alike vectors are. */

/** Cosine: 1 for the same direction, 0 for nothing in common. */
export const similarity = (one: readonly number[], other: readonly number[]): number => {
  let [product, first, second] = [0, 0, 0];
  for (const [index, a] of one.entries()) {
    const b = other[index] ?? 0;
    product += a * b;
    first += a * a;
    second += b * b;
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second);
};
