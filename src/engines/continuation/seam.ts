/** Joins the rest of an answer to what was delivered of it: nothing twice, stop sequences found across the seam. */
import { fromJsonText, type JsonText, type Part, type Parts, toJsonText } from '../../ports/engines/chat.ts';
import type { RestOfAnswer } from '../wire.ts';

interface Seam {
  readonly delivered: { readonly text: string; readonly reasoning: string };
  readonly unsent: RestOfAnswer['unsent'];
  readonly stop: readonly string[];
}

export class SeamFilter {
  /** Absent once nothing is left to compare. */
  #reasoning: Joint | undefined;
  #text: Joint | undefined;
  /** A stop sequence has ended the answer: nothing after it counts. */
  stopped = false;

  constructor({ delivered, unsent, stop }: Seam) {
    this.#reasoning = jointOf(delivered.reasoning, unsent.reasoning, stop);
    this.#text = jointOf(delivered.text, unsent.text, stop);
  }

  pass(parts: Parts): Parts {
    const isJoined = this.#reasoning === undefined && this.#text === undefined;
    if (isJoined && !this.stopped && !parts.some(isUsage)) return parts;
    const passed: Part[] = [];
    for (const part of parts) if (!this.stopped) this.#place(part, passed);
    return passed;
  }

  #place(part: Part, passed: Part[]): void {
    switch (part.type) {
      case 'usage':
        // Of the rest alone, with what was delivered as a part of its prompt: the reader counts instead.
        return;
      case 'reasoning':
        this.#reasoning = this.#join('reasoning', this.#reasoning, part, passed);
        return;
      case 'text':
        this.#release('reasoning', this.#reasoning, passed);
        this.#reasoning = undefined;
        this.#text = this.#join('text', this.#text, part, passed);
        return;
      default:
        this.#release('reasoning', this.#reasoning, passed);
        this.#release('text', this.#text, passed);
        this.#reasoning = undefined;
        this.#text = undefined;
        passed.push(part);
    }
  }

  /** The joint, while it compares. */
  #join(
    type: Kind,
    joint: Joint | undefined,
    part: Part & { readonly text: JsonText },
    passed: Part[],
  ): Joint | undefined {
    if (joint === undefined) {
      passed.push(part);
      return undefined;
    }
    const sequence = joint.push(fromJsonText(part.text));
    if (sequence !== undefined) {
      this.stopped = true;
      passed.push({ type: 'finish', choice: 0, reason: 'stop', native: 'stop', stopSequence: sequence });
      return undefined;
    }
    if (!joint.isDone) return joint;
    this.#release(type, joint, passed);
    return undefined;
  }

  #release(type: Kind, joint: Joint | undefined, passed: Part[]): void {
    const text = joint?.held ?? '';
    if (text !== '') passed.push({ type, choice: 0, text: toJsonText(text) });
  }
}

type Kind = 'text' | 'reasoning';

const isUsage = ({ type }: Part): boolean => type === 'usage';

const jointOf = (delivered: string, unsent: string, stop: readonly string[]): Joint | undefined => {
  const joint = new Joint(delivered, unsent, stop);
  return joint.isDone ? undefined : joint;
};

/** A stop sequence that began in what was delivered, and what of it is missing. */
interface Begun {
  readonly sequence: string;
  readonly missing: string;
}

class Joint {
  /** What came and was not delivered: it may be the end of a stop sequence. */
  held = '';
  /** What the rest may repeat. */
  #repeated: string;
  #begun: readonly Begun[];

  constructor(delivered: string, unsent: string, stop: readonly string[]) {
    this.#repeated = unsent;
    this.#begun = stop.flatMap((sequence) => begunIn(delivered, sequence));
  }

  /** Nothing is left to compare. */
  get isDone(): boolean {
    return this.#repeated === '' && this.#begun.length === 0;
  }

  /** Returns the stop sequence that ended. */
  push(text: string): string | undefined {
    const same = commonLength(this.#repeated, text);
    this.#repeated = same === text.length ? this.#repeated.slice(same) : '';
    this.held += text.slice(same);
    if (this.held === '') return undefined;
    const ended = this.#begun.find(({ missing }) => this.held.startsWith(missing));
    this.#begun = this.#begun.filter(({ missing }) => missing.startsWith(this.held));
    return ended?.sequence;
  }
}

/** Every beginning of the sequence that the text ends with. */
const begunIn = (text: string, sequence: string): readonly Begun[] => {
  const begun: Begun[] = [];
  for (let length = 1; length < sequence.length; length++)
    if (text.endsWith(sequence.slice(0, length))) begun.push({ sequence, missing: sequence.slice(length) });
  return begun;
};

const commonLength = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
};
