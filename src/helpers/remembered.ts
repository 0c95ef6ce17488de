/** Caches the latest results of a function. */

/** Up to `most` of them; then the cache is cleared: for values of which there are few, or the same ones for a while. */
export const remembered = <Value, Result extends NonNullable<unknown>>(
  most: number,
  make: (value: Value) => Result,
): ((value: Value) => Result) => {
  const results = new Map<Value, Result>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known;
    if (results.size >= most) results.clear();
    const result = make(value);
    results.set(value, result);
    return result;
  };
};
