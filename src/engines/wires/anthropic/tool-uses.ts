/** The tool calls of one message: numbers and ids them, and emits their arguments. */
import { randomBytes } from 'node:crypto';
import { fail } from '../../../errors.ts';
import { type JsonText, type Part, toJsonText } from '../../../ports/engines/chat.ts';
import type { Json } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';

const mostCalls = 128;

export class ToolUses {
  count = 0;
  /** Arguments of the last call that came with its beginning, until it is known that no others follow. */
  bare: Json | undefined;
  readonly #emit: (part: Part) => void;
  readonly #ids = new Set<string>();

  constructor(emit: (part: Part) => void) {
    this.#emit = emit;
  }

  /** Of one that can begin. */
  nameOf({ name }: Json): string {
    if (typeof name !== 'string' || name === '') throw unreadable(new Error('A tool call has no name'));
    if (this.count === mostCalls) throw fail('engine_unreachable', 'The engine called too many tools');
    return name;
  }

  begin(name: string, id: unknown): void {
    this.#emit({ type: 'tool-call', choice: 0, call: this.count++, id: this.#idFor(id), name });
  }

  /** A piece of the last call's arguments. */
  grow(text: JsonText): void {
    this.#emit({ type: 'tool-arguments', choice: 0, call: this.count - 1, text });
  }

  /** A call whose arguments came with its beginning, or that has none, is complete. */
  fill(): void {
    const input = this.bare;
    this.bare = undefined;
    if (input !== undefined) this.grow(toJsonText(JSON.stringify(input)));
  }

  /** The server's own id in our format, where it is unique; else a new one. */
  #idFor(id: unknown): string {
    const own = typeof id === 'string' ? /^(?:toolu|call)_([\w-]{1,59})$/.exec(id)?.[1] : undefined;
    const ours = own === undefined ? undefined : `call_${own}`;
    const unique =
      ours === undefined || this.#ids.has(ours) ? `call_${randomBytes(12).toString('hex')}` : ours;
    this.#ids.add(unique);
    return unique;
  }
}
