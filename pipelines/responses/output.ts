/** Builds the output items of a response as JSON; one item is open at a time. */
import { quoted } from '../../src/helpers/quoted.ts';
import type { Logprob, Part } from '../../src/ports/engines/chat.ts';
import { CustomInput } from './custom-input.ts';
import type { CalledTools } from './tool-names.ts';

export type ContentPart = Extract<Part, { type: 'text' | 'reasoning' | 'tool-call' | 'tool-arguments' }>;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** All text stays escaped. */
export interface Item {
  readonly type: 'message' | 'reasoning' | 'function_call' | 'custom_tool_call';
  readonly id: string;
  readonly index: number;
  /** Of a call: its id and name, quoted, and its namespace as a field after a comma. */
  readonly callId: string;
  readonly name: string;
  readonly namespace: string;
  /** Of a custom tool call: what makes its text of the arguments. */
  readonly input: CustomInput | undefined;
  text: string;
  /** Of a message, with commas between. */
  logprobs: string;
  /** Those that no delta has carried yet. */
  unsent: string;
}

interface OutputForm {
  readonly key: string;
  readonly logprobs: boolean;
  readonly called: CalledTools | undefined;
}

export class Output {
  readonly #key: string;
  readonly #logprobs: boolean;
  readonly #called: CalledTools | undefined;
  readonly #ended: string[] = [];
  #open: Item | undefined;

  constructor({ key, logprobs, called }: OutputForm) {
    this.#key = key;
    this.#logprobs = logprobs;
    this.#called = called;
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
    const isCall = part.type === 'tool-call';
    const tool = isCall ? this.#called?.get(part.name) : undefined;
    const type = tool?.type ?? itemTypes[part.type];
    const item: Item = {
      type,
      id: `${idStarts[type]}${this.#key}_${index}`,
      index,
      callId: isCall ? quoted(part.id) : '',
      name: tool?.name ?? (isCall ? quoted(part.name) : ''),
      namespace: tool?.namespace ?? '',
      input: type === 'custom_tool_call' ? new CustomInput() : undefined,
      text: '',
      logprobs: '',
      unsent: '',
    };
    this.#open = item;
    return item;
  }

  /** Adds to the open item. Returns the text that it grew by; there may be none. */
  grow(part: ContentPart): string {
    const item = this.#open;
    if (item === undefined || part.type === 'tool-call') return '';
    if (item.input !== undefined)
      return part.type === 'tool-arguments' ? add(item, item.input.add(part.text)) : '';
    if (item.type !== itemTypes[part.type]) return '';
    if (this.#logprobs && part.type === 'text' && part.logprobs !== undefined) {
      const tokens = logprobsJson(part.logprobs);
      item.logprobs = joined(item.logprobs, tokens);
      item.unsent = joined(item.unsent, tokens);
    }
    return add(item, part.text);
  }

  /** The engine has sent all of the open item: text that it grows by only now. */
  finish(): string {
    const item = this.#open;
    return item?.input === undefined ? '' : add(item, item.input.end());
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

const add = (item: Item, text: string): string => {
  item.text += text;
  return text;
};

const itemTypes = {
  text: 'message',
  reasoning: 'reasoning',
  'tool-call': 'function_call',
  'tool-arguments': 'function_call',
} as const;

const idStarts = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
} as const;

export const itemJson = (item: Item, status: ItemStatus): string => {
  const { type, id, callId, name, namespace, text } = item;
  const start = `{"type":"${type}","id":"${id}","status":"${status}"`;
  if (isCall(type))
    return `${start},"call_id":${callId},"name":${name}${namespace},"${textField(type)}":"${text}"}`;
  const content = status === 'in_progress' ? '' : partJson(item);
  return type === 'message'
    ? `${start},"role":"assistant","content":[${content}]}`
    : `${start},"summary":[],"content":[${content}]}`;
};

export const isCall = (type: Item['type']): type is 'function_call' | 'custom_tool_call' =>
  type === 'function_call' || type === 'custom_tool_call';

const textField = (type: 'function_call' | 'custom_tool_call'): string =>
  type === 'function_call' ? 'arguments' : 'input';

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
