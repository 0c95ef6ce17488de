/** A strict reader of responses streams: returns the whole response, or throws. */
import assert from 'node:assert/strict';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ResponseEvent } from '../../schemas/responses/events.ts';
import { type OutputItem, Response } from '../../schemas/responses/response.ts';

export interface ReadStream {
  /** As the last event has it. */
  readonly response: Response;
  /** Of the `error` event before `response.failed`. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly types: readonly string[];
}

export const readEvents = (text: string): ReadStream => {
  const events = splitEvents(text);
  const reader = new EventReader();
  for (const event of events) reader.read(event);
  return { ...reader.end(), types: events.map(({ type }) => type) };
};

/** The same schema, without a field more than it names. */
const closed = (schema: unknown): Type.TSchema => {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const walked = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value)]));
    return 'properties' in walked ? { ...walked, additionalProperties: false } : walked;
  };
  return Type.Unsafe(walk(JSON.parse(JSON.stringify(schema))) as object);
};

const isEvent = Compile(closed(ResponseEvent));
const isResponse = Compile(closed(Response));

export const checkResponse = (value: unknown): Response => {
  if (!isResponse.Check(value)) throw new Error(JSON.stringify(isResponse.Errors(value)));
  return value as Response;
};

const splitEvents = (text: string): ResponseEvent[] => {
  assert.ok(text.endsWith('\n\n'), 'the last event is closed');
  return text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => !block.startsWith(':'))
    .map((block, at) => {
      const [, name, data] = /^event: ([\w.]+)\ndata: ([^\r\n]*)$/.exec(block) ?? [];
      if (name === undefined || data === undefined) throw new Error(`not an event and its data: ${block}`);
      const event = JSON.parse(data) as ResponseEvent;
      if (!isEvent.Check(event)) throw new Error(`no event: ${data}`);
      assert.equal(event.type, name);
      assert.equal(event.sequence_number, at, 'numbers count up from 0');
      return event;
    });
};

type Event<Type extends ResponseEvent['type']> = Extract<ResponseEvent, { type: Type }>;

/** An item between `added` and `done`. */
interface OpenItem {
  readonly item: OutputItem;
  text: string;
  logprobs: unknown[];
  /** Of a message or a thought: the index of its one content part. */
  part: 'none' | 'open' | 'said' | 'done';
}

class EventReader {
  #started: Response | undefined;
  #inProgress = false;
  readonly #items: OutputItem[] = [];
  #open: OpenItem | undefined;
  #error: ReadStream['error'];
  #last: Response | undefined;

  read(event: ResponseEvent): void {
    assert.equal(this.#last, undefined, `${event.type} after the end`);
    if (this.#started === undefined) assert.equal(event.type, 'response.created');
    else if (!this.#inProgress) assert.equal(event.type, 'response.in_progress');
    if (this.#error !== undefined) assert.equal(event.type, 'response.failed');
    switch (event.type) {
      case 'response.created':
        assert.equal(this.#started, undefined, 'created once');
        this.#started = begun(event.response);
        break;
      case 'response.in_progress':
        assert.ok(!this.#inProgress, 'in progress once');
        assert.deepEqual(event.response, this.#started);
        this.#inProgress = true;
        break;
      case 'response.output_item.added':
        this.#added(event);
        break;
      case 'response.output_item.done':
        this.#done(event);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#ended(event);
        break;
      case 'error':
        this.#error = { code: event.code, message: event.message };
        break;
      case 'response.failed':
        this.#failed(event.response);
        break;
      default:
        this.#within(event);
    }
  }

  end(): Omit<ReadStream, 'types'> {
    if (this.#last === undefined) throw new Error('the stream has no end');
    return { response: this.#last, error: this.#error };
  }

  #added({ output_index, item }: Event<'response.output_item.added'>): void {
    assert.equal(this.#open, undefined, 'an item inside an item');
    assert.equal(output_index, this.#items.length);
    assert.equal(item.status, 'in_progress');
    assert.ok(!this.#items.some(({ id }) => id === item.id), 'a new id');
    if (item.type === 'function_call') assert.equal(item.arguments, '');
    else if (item.type === 'custom_tool_call') assert.equal(item.input, '');
    else assert.deepEqual(item.content, []);
    this.#open = { item, text: '', logprobs: [], part: 'none' };
  }

  /** An event of the open item. */
  #within(event: Extract<ResponseEvent, { item_id: string }>): void {
    const open = this.#open;
    if (open === undefined) throw new Error(`${event.type} of no item`);
    assert.equal(event.item_id, open.item.id);
    assert.equal(event.output_index, this.#items.length);
    assert.ok(ofType[open.item.type].includes(event.type), `${event.type} in ${open.item.type}`);
    switch (event.type) {
      case 'response.content_part.added':
        assert.equal(open.part, 'none');
        assert.deepEqual(event.part, partOf(open));
        open.part = 'open';
        break;
      case 'response.output_text.delta':
        open.logprobs.push(...event.logprobs);
        this.#delta(open, event.delta);
        break;
      case 'response.reasoning_text.delta':
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#delta(open, event.delta);
        break;
      case 'response.output_text.done':
        // Tokens without text may be reported at the end only.
        assert.deepEqual(event.logprobs.slice(0, open.logprobs.length), open.logprobs);
        open.logprobs = event.logprobs;
        this.#said(open, event.text);
        break;
      case 'response.reasoning_text.done':
        this.#said(open, event.text);
        break;
      case 'response.content_part.done':
        assert.equal(open.part, 'said');
        assert.deepEqual(event.part, partOf(open));
        open.part = 'done';
        break;
      case 'response.function_call_arguments.done':
        assert.equal(open.part, 'none');
        assert.equal(event.arguments, open.text);
        assert.equal(event.name, open.item.type === 'function_call' && open.item.name);
        assert.equal(event.namespace, open.item.type === 'function_call' && open.item.namespace);
        open.part = 'done';
        break;
      case 'response.custom_tool_call_input.done':
        assert.equal(open.part, 'none');
        assert.equal(event.input, open.text);
        open.part = 'done';
    }
  }

  #delta(open: OpenItem, delta: string): void {
    assert.equal(open.part, 'content' in open.item ? 'open' : 'none');
    open.text += delta;
  }

  #said(open: OpenItem, text: string): void {
    assert.equal(open.part, 'open');
    assert.equal(text, open.text);
    assert.notEqual(text, '', 'an item that says nothing');
    open.part = 'said';
  }

  #done({ output_index, item }: Event<'response.output_item.done'>): void {
    const open = this.#open;
    if (open === undefined) throw new Error('the end of no item');
    assert.equal(open.part, 'done');
    assert.equal(output_index, this.#items.length);
    assert.notEqual(item.status, 'in_progress');
    assert.deepEqual(item, itemOf(open, item.status));
    this.#items.push(item);
    this.#open = undefined;
  }

  #ended({ type, response }: Event<'response.completed' | 'response.incomplete'>): void {
    assert.equal(this.#open, undefined, 'an item that is not done');
    const whole = type === 'response.completed';
    this.#same(response);
    assert.equal(response.status, whole ? 'completed' : 'incomplete');
    assert.equal(response.incomplete_details === null, whole);
    assert.equal(response.completed_at !== null, whole);
    assert.equal(response.error, null);
    assert.notEqual(response.usage, null);
    assert.deepEqual(response.output, this.#items);
    response.output.forEach((item, at) => {
      const cut = !whole && at === response.output.length - 1;
      assert.equal(item.status, cut ? 'incomplete' : 'completed');
    });
    this.#last = response;
  }

  #failed(response: Response): void {
    this.#same(response);
    assert.ok(this.#error !== undefined, 'response.failed without error');
    assert.equal(response.status, 'failed');
    assert.equal(response.error?.message, this.#error.message);
    assert.equal(response.incomplete_details, null);
    assert.equal(response.completed_at, null);
    assert.equal(response.usage, null);
    const open = this.#open === undefined ? [] : [itemOf(this.#open, 'incomplete')];
    assert.deepEqual(response.output, [...this.#items, ...open]);
    this.#last = response;
  }

  /** What does not change in the life of a response. */
  #same(response: Response): void {
    if (this.#started === undefined) throw new Error('not started');
    const { status, completed_at, error, incomplete_details, output, usage } = this.#started;
    assert.deepEqual(
      { ...response, status, completed_at, error, incomplete_details, output, usage },
      this.#started,
    );
  }
}

const ofType: Readonly<Record<OutputItem['type'], readonly string[]>> = {
  message: [
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
  ],
  reasoning: [
    'response.content_part.added',
    'response.reasoning_text.delta',
    'response.reasoning_text.done',
    'response.content_part.done',
  ],
  function_call: ['response.function_call_arguments.delta', 'response.function_call_arguments.done'],
  custom_tool_call: ['response.custom_tool_call_input.delta', 'response.custom_tool_call_input.done'],
};

const begun = (response: Response): Response => {
  const { status, completed_at, error, incomplete_details, output, usage } = response;
  assert.deepEqual(
    { status, completed_at, error, incomplete_details, output, usage },
    {
      status: 'in_progress',
      completed_at: null,
      error: null,
      incomplete_details: null,
      output: [],
      usage: null,
    },
  );
  return response;
};

const partOf = ({ item, text, logprobs }: OpenItem): unknown =>
  item.type === 'message'
    ? { type: 'output_text', text, annotations: [], logprobs }
    : { type: 'reasoning_text', text };

const itemOf = (open: OpenItem, status: OutputItem['status']): unknown => {
  if (open.item.type === 'function_call') return { ...open.item, status, arguments: open.text };
  if (open.item.type === 'custom_tool_call') return { ...open.item, status, input: open.text };
  return { ...open.item, status, content: [partOf(open)] };
};
