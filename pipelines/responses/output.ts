/** Builds the output items of a response as JSON; one item is open at a time. */
import type { Logprob, Part } from '../../src/ports/chat.ts';
import { quoted } from '../../src/quoted.ts';

export type ContentPart = Extract<Part, { type: 'text' | 'reasoning' | 'tool-call' | 'tool-arguments' }>;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** All text stays escaped. */
export interface Item {
  readonly type: 'message' | 'reasoning' | 'function_call';
  readonly id: string;
  readonly index: number;
  /** Of a function call: its id and name, quoted. */
  readonly callId: string;
  readonly name: string;
  text: string;
  /** Of a message, with commas between. */
  logprobs: string;
  /** Those that no delta has carried yet. */
  unsent: string;
}

export class Output {
  readonly #key: string;
  readonly #logprobs: boolean;
  readonly #ended: string[] = [];
  #open: Item | undefined;

  constructor({ key, logprobs }: { readonly key: string; readonly logprobs: boolean }) {
    this.#key = key;
    this.#logprobs = logprobs;
  }

  get open(): Item | undefined {
    return this.#open;
  }

  /** The part does not continue the open item, but begins another. */
  begins(part: ContentPart): boolean {
    if (part.type === 'tool-call') return true;
    if (part.type === 'tool-arguments' || part.text === '') return false;
    return this.#open?.type !== itemTypes[part.type];
  }

  /** Begins the item of a part; the one before has ended. */
  begin(part: ContentPart): Item {
    const index = this.#ended.length;
    const type = itemTypes[part.type];
    const called = part.type === 'tool-call';
    const item: Item = {
      type,
      id: `${idStarts[type]}${this.#key}_${index}`,
      index,
      callId: called ? quoted(part.id) : '',
      name: called ? quoted(part.name) : '',
      text: '',
      logprobs: '',
      unsent: '',
    };
    this.#open = item;
    return item;
  }

  /** Adds to the open item; false when there is no delta to write. */
  grow(part: ContentPart): boolean {
    const item = this.#open;
    if (part.type === 'tool-call' || item?.type !== itemTypes[part.type]) return false;
    if (this.#logprobs && part.type === 'text' && part.logprobs !== undefined) {
      const tokens = logprobsJson(part.logprobs);
      item.logprobs = joined(item.logprobs, tokens);
      item.unsent = joined(item.unsent, tokens);
    }
    item.text += part.text;
    return part.text !== '';
  }

  end(status: ItemStatus): Item | undefined {
    const item = this.#open;
    if (item !== undefined) this.#ended.push(itemJson(item, status));
    this.#open = undefined;
    return item;
  }

  /** All items that ended, with commas between. */
  json(): string {
    return this.#ended.join(',');
  }
}

const itemTypes = {
  text: 'message',
  reasoning: 'reasoning',
  'tool-call': 'function_call',
  'tool-arguments': 'function_call',
} as const;

const idStarts = { message: 'msg_', reasoning: 'rs_', function_call: 'fc_' } as const;

export const itemJson = (item: Item, status: ItemStatus): string => {
  const { type, id, callId, name, text } = item;
  const start = `{"type":"${type}","id":"${id}","status":"${status}"`;
  if (type === 'function_call') return `${start},"call_id":${callId},"name":${name},"arguments":"${text}"}`;
  const content = status === 'in_progress' ? '' : partJson(item);
  return type === 'message'
    ? `${start},"role":"assistant","content":[${content}]}`
    : `${start},"summary":[],"content":[${content}]}`;
};

/** The one content part of a message or of reasoning. */
export const partJson = ({ type, text, logprobs }: Item): string =>
  type === 'message'
    ? `{"type":"output_text","text":"${text}","annotations":[],"logprobs":[${logprobs}]}`
    : `{"type":"reasoning_text","text":"${text}"}`;

/** With commas between. Bytes are never null: that would cost some clients the whole item. */
const logprobsJson = (tokens: readonly Logprob[]): string =>
  tokens
    .map(({ top_logprobs, ...token }) =>
      JSON.stringify({ ...withBytes(token), top_logprobs: top_logprobs.map(withBytes) }),
    )
    .join(',');

const withBytes = ({ token, logprob, bytes }: Omit<Logprob, 'top_logprobs'>) => ({
  token,
  logprob,
  bytes: bytes ?? [...Buffer.from(token)],
});

const joined = (earlier: string, later: string): string =>
  earlier === '' || later === '' ? earlier + later : `${earlier},${later}`;
