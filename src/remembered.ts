/** A function in; the same out, which remembers what it has made of its latest values. */

/** Up to `most` of them; then it begins anew: for values of which there are few, or the same ones for a while. */
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
