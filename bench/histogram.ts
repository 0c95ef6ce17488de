/** A log-linear latency histogram of fixed size, with an error of about 1.5 % from 1 µs to half an hour. */

const subBuckets = 64;
const powers = 25;
const size = subBuckets * (powers + 1);

export class Histogram {
  readonly #counts = new Uint32Array(size);
  #count = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  record(milliseconds: number): void {
    const microseconds = Math.min(Math.max(Math.round(milliseconds * 1000), 0), 0x7fffffff);
    const index = indexOf(microseconds);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    if (microseconds > this.#max) this.#max = microseconds;
  }

  /** The percentile in milliseconds; 0 when there are no values. */
  percentile(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.#count * share));
    let seen = 0;
    for (let index = 0; index < size; index += 1) {
      seen += this.#counts[index] ?? 0;
      if (seen >= wanted) return Math.min(middleOf(index), this.#max) / 1000;
    }
    return this.#max / 1000;
  }
}

/** Up to 64 every microsecond has a bucket; above, each power of two has 64. */
const indexOf = (value: number): number => {
  if (value < subBuckets) return value;
  const shift = 25 - Math.clz32(value);
  return subBuckets * shift + (value >>> shift);
};

const middleOf = (index: number): number => {
  if (index < 2 * subBuckets) return index;
  const shift = Math.floor(index / subBuckets) - 1;
  return (index - subBuckets * shift + 0.5) * 2 ** shift;
};
