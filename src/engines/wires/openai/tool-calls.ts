/** Reorders tool call deltas so that each call is complete before the next starts. */
import { fail } from '../../../errors.ts';
import { type Part, toJsonText } from '../../../ports/engines/chat.ts';
import { isObject } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';

const CALL_LIMIT = 128;
/** Arguments of calls that wait for an earlier one to end, in characters. */
const HELD_LIMIT = 4 * 1024 * 1024;

interface Call {
  readonly number: number;
  /** As the server numbers and names it; servers leave either out. */
  readonly index: number | undefined;
  engineId: string | undefined;
  name: string;
  waiting: string;
  seen: boolean;
  readonly json: JsonEnd;
}

export class ToolCalls {
  readonly #choice: number;
  readonly #emit: (part: Part) => void;
  readonly #newId: () => string;
  readonly #calls: Call[] = [];
  readonly #ids = new Set<string>();
  /** The call being emitted; all before it are complete. */
  #open = -1;
  #held = 0;

  constructor(choice: number, emit: (part: Part) => void, newId: () => string) {
    this.#choice = choice;
    this.#emit = emit;
    this.#newId = newId;
  }

  get any(): boolean {
    return this.#open >= 0;
  }

  /** One `tool_calls` value: a list of deltas, or TGI's single delta outside a list. */
  push(deltas: unknown): void {
    for (const delta of Array.isArray(deltas) ? deltas : [deltas]) {
      if (!isObject(delta)) throw unreadable(new Error('A tool call is no object'));
      this.#delta(delta);
    }
  }

  /** The response is over: waiting calls are emitted. A call without arguments gets an empty object, unless it was cut off. */
  end(cutOff: boolean): void {
    do {
      const open = this.#calls[this.#open];
      if (open !== undefined && !open.seen && !cutOff) this.#arguments(open, '{}');
    } while (this.#openNext());
  }

  #delta(delta: Readonly<Record<string, unknown>>): void {
    const called = delta.function ?? {};
    if (!isObject(called)) throw unreadable(new Error('The function of a tool call is no object'));
    const name = typeof called.name === 'string' ? called.name : '';
    const id = typeof delta.id === 'string' && delta.id !== '' ? delta.id : undefined;
    const words = argumentsOf(called.arguments);
    const call = this.#find(delta.index, id, name);
    if (call === undefined) {
      if (words !== '') throw unreadable(new Error('Arguments belong to no tool call'));
      return;
    }
    call.engineId ??= id;
    if (call.name === '') call.name = name;
    if (words !== '') this.#take(call, words);
    this.#advance();
  }

  #find(index: unknown, id: string | undefined, name: string): Call | undefined {
    if (Number.isInteger(index)) {
      const known = this.#calls.findLast((call) => call.index === index);
      // Some servers number every call 0: another id with another name is another call.
      const another =
        known?.engineId !== undefined && id !== undefined && id !== known.engineId && name !== '';
      return known === undefined || another ? this.#add(index as number) : known;
    }
    const known = id === undefined ? undefined : this.#calls.find((call) => call.engineId === id);
    if (known !== undefined) return known;
    return id !== undefined || name !== '' ? this.#add(undefined) : this.#calls.at(-1);
  }

  #add(index: number | undefined): Call {
    const number = this.#calls.length;
    if (number === CALL_LIMIT) throw fail('engine_unreachable', 'The engine called too many tools');
    const call = {
      number,
      index,
      engineId: undefined,
      name: '',
      waiting: '',
      seen: false,
      json: new JsonEnd(),
    };
    this.#calls.push(call);
    return call;
  }

  #take(call: Call, words: string): void {
    if (call.number === this.#open) {
      this.#arguments(call, words);
    } else if (call.number > this.#open) {
      call.waiting += words;
      this.#held += words.length;
      if (this.#held > HELD_LIMIT)
        throw fail('engine_unreachable', 'The engine sent arguments that are too long');
    }
  }

  /** Opens the next call once the open one has a complete JSON value. */
  #advance(): void {
    let open = this.#calls[this.#open];
    while ((open === undefined || open.json.reached) && this.#openNext()) open = this.#calls[this.#open];
  }

  #openNext(): boolean {
    const next = this.#calls[this.#open + 1];
    if (next === undefined || next.name === '') return false;
    this.#open = next.number;
    const { name, waiting } = next;
    this.#emit({
      type: 'tool-call',
      choice: this.#choice,
      call: next.number,
      id: this.#id(next.engineId),
      name,
    });
    next.waiting = '';
    this.#held -= waiting.length;
    if (waiting !== '') this.#arguments(next, waiting);
    return true;
  }

  #arguments(call: Call, words: string): void {
    call.seen = true;
    call.json.push(words);
    this.#emit({
      type: 'tool-arguments',
      choice: this.#choice,
      call: call.number,
      text: toJsonText(words),
    });
  }

  /** The server's own id where it has our format and is unique, else a new one. */
  #id(engineId: string | undefined): string {
    const usable = engineId !== undefined && /^call_[\w-]{1,64}$/.test(engineId) && !this.#ids.has(engineId);
    const id = usable ? engineId : this.#newId();
    this.#ids.add(id);
    return id;
  }
}

/** Text, or the object itself where a server does not write it as text. */
const argumentsOf = (value: unknown): string => {
  if (value == null) return '';
  if (typeof value === 'string') return value;
  if (isObject(value)) return JSON.stringify(value);
  throw unreadable(new Error('The arguments of a tool call are no text'));
};

/** Notices where a JSON object or array that comes in pieces ends. */
class JsonEnd {
  reached = false;
  #depth = 0;
  #inString = false;
  #escaped = false;

  push(text: string): void {
    for (let index = 0; index < text.length && !this.reached; index++) {
      const character = text.charCodeAt(index);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === 92) this.#escaped = true;
        else if (character === 34) this.#inString = false;
      } else if (character === 34) this.#inString = true;
      else if (character === 123 || character === 91) this.#depth++;
      else if (character === 125 || character === 93) this.reached = --this.#depth <= 0;
    }
  }
}
