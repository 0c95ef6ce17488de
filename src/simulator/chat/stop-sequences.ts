/** Text units in; where the first stop sequence ends and how much of the text may still become one out. */

interface Sequence {
  readonly text: string;
  /** Longest proper border of each prefix (Knuth, Morris and Pratt): where to go on after a mismatch. */
  readonly borders: Uint32Array;
  /** How many units of the sequence the text ends with. */
  matched: number;
}

export class StopSequences {
  readonly #sequences: readonly Sequence[];

  constructor(stops: readonly string[]) {
    this.#sequences = stops
      .filter((text) => text !== '')
      .map((text) => ({ text, borders: bordersOf(text), matched: 0 }));
  }

  /** Units at the end of the text read so far that may be the start of a sequence. */
  get held(): number {
    let held = 0;
    for (const sequence of this.#sequences) held = Math.max(held, sequence.matched);
    return held;
  }

  /** Reads on. The sequence that is complete first, the longest of several, with the units of `text` read by then. */
  read(text: string): { sequence: string; end: number } | undefined {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      let complete: string | undefined;
      for (const sequence of this.#sequences) {
        advance(sequence, unit);
        if (sequence.matched < sequence.text.length) continue;
        if (complete === undefined || sequence.text.length > complete.length) complete = sequence.text;
      }
      if (complete !== undefined) return { sequence: complete, end: at + 1 };
    }
    return undefined;
  }
}

function advance(sequence: Sequence, unit: number): void {
  const { text, borders } = sequence;
  while (sequence.matched > 0 && text.charCodeAt(sequence.matched) !== unit) {
    sequence.matched = borders[sequence.matched - 1] ?? 0;
  }
  if (text.charCodeAt(sequence.matched) === unit) sequence.matched += 1;
}

function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(at) === text.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}
