/** What has arrived of a response so far; changed by the reader of each dialect. */
import type { ToolCall } from './conversation.ts';

export interface Usage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
  readonly reasoning: number;
}

/** An item of a vector store that the model was given. */
export interface Passage {
  readonly id: string;
  readonly filename: string;
  readonly score: number;
  readonly content: readonly { readonly text: string }[];
}

export class Answer {
  text = '';
  reasoning = '';
  /** By their index in the stream. */
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  usage: Usage | undefined;
  finish: string | undefined;
  /** The stream ended with this failure. */
  failure: string | undefined;
  context: readonly Passage[] | undefined;
  /** Events that had text, reasoning or arguments. */
  deltas = 0;
  /** What the last of them added. */
  latest = '';

  get calls(): readonly ToolCall[] {
    return [...this.#calls.values()];
  }

  addText(text: string): void {
    this.text += text;
    this.#added(text);
  }

  addReasoning(text: string): void {
    this.reasoning += text;
    this.#added(text);
  }

  addCall(index: number, part: { id?: string; name?: string; arguments?: string }): void {
    const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
    this.#calls.set(index, call);
    if (part.id) call.id = part.id;
    if (part.name) call.name = part.name;
    call.arguments += part.arguments ?? '';
    this.#added(part.arguments ?? part.name ?? '');
  }

  #added(text: string): void {
    this.latest = text;
    this.deltas++;
  }
}
