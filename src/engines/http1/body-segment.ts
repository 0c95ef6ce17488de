/** Pieces of one read in, each behind the last; the same in one piece out, moved up to the first, over what lay between. */
export class BodySegment {
  #from = 0;
  #to = 0;

  add(bytes: Buffer, from: number, to: number): void {
    if (this.#to > this.#from) this.#to += bytes.copy(bytes, this.#to, from, to);
    else {
      this.#from = from;
      this.#to = to;
    }
  }

  /** Undefined when there are none. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.#to === this.#from) return undefined;
    const together = bytes.subarray(this.#from, this.#to);
    this.#from = 0;
    this.#to = 0;
    return together;
  }
}
