/** Tokens in; the same tokens out, held back while they may become a stop sequence and cut where one begins. */
import type { Logprob } from '../../ports/chat.ts';
import { cutLogprob } from './logprobs.ts';
import { StopSequences } from './stop-sequences.ts';

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
