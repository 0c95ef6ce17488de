/** Holds tokens back while they may become a stop sequence, and cuts the text where one begins. */
import type { Logprob } from '../../ports/engines/chat.ts';
import { cutLogprob } from './logprobs.ts';

export interface TextToken {
  readonly text: string;
  readonly logprob: Logprob | undefined;
}

export class StopFilter {
  readonly #sequences: StopSequences;
  #held: TextToken[] = [];
  #length = 0;

  constructor(stops: readonly string[]) {
    this.#sequences = new StopSequences(stops);
  }

  /** Takes one token and adds those that are certain by now; returns the sequence that ended the text. */
  push(token: TextToken, out: TextToken[]): string | undefined {
    const before = this.#length;
    this.#held.push(token);
    this.#length += token.text.length;
    const match = this.#sequences.read(token.text);
    if (match === undefined) {
      this.#release(this.#length - this.#sequences.held, out);
      return undefined;
    }
    const rest = this.#release(before + match.end - match.sequence.length, out);
    const [cut] = this.#held;
    if (cut !== undefined && rest > 0) out.push(cutToken(cut, rest));
    this.#held = [];
    return match.sequence;
  }

  /** No more text will come: nothing needs to be held any longer. */
  flush(out: TextToken[]): void {
    out.push(...this.#held);
    this.#held = [];
    this.#length = 0;
  }

  /** Lets go of the tokens that lie within the first `length` units held; returns how many units are left over. */
  #release(length: number, out: TextToken[]): number {
    let left = length;
    let count = 0;
    for (const token of this.#held) {
      if (token.text.length > left) break;
      left -= token.text.length;
      this.#length -= token.text.length;
      count += 1;
      out.push(token);
    }
    if (count > 0) this.#held.splice(0, count);
    return left;
  }
}

function cutToken({ text, logprob }: TextToken, length: number): TextToken {
  const start = text.slice(0, length);
  return { text: start, logprob: logprob && cutLogprob(logprob, start) };
}

interface Sequence {
  readonly text: string;
  /** Longest proper border of each prefix (Knuth, Morris and Pratt): where to go on after a mismatch. */
  readonly borders: Uint32Array;
  /** How many units of the sequence the text ends with. */
  matched: number;
}

class StopSequences {
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
