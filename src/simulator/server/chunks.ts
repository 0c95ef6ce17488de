/** Writes the chunks of a streamed chat response with the chosen quirks. */
import { type JsonText, type Part, type Parts, toJsonText } from '../../ports/engines/chat.ts';
import { EventWriter } from './events.ts';
import type { Quirks } from './quirks.ts';
import { engineError, engineUsage } from './responses.ts';
import { addArguments, callHeadJson, callJson, callPieceJson, type OpenCall } from './tool-call-json.ts';

export interface StreamHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly includeUsage: boolean;
  readonly promptTokens: number;
  /** The opening tag of the thinking was in the prompt. */
  readonly isMidThought: boolean;
}

type Delta = 'role' | 'text' | 'reasoning' | 'tools' | 'none';

/** One of the n answers, as far as its chunks depend on those before. */
interface Choice {
  thinking: boolean;
  call: OpenCall | undefined;
}

export class ChunkWriter {
  readonly #quirks: Quirks;
  readonly #events: EventWriter;
  readonly #head: StreamHead;
  /** All of a chunk before its choices. */
  readonly #start: string;
  /** What every delta of a kind has before and after its own fields. */
  readonly #around: Readonly<Record<Delta, { readonly before: string; readonly after: string }>>;
  readonly #choices = new Map<number, Choice>();
  #completion = 0;
  #reasoning = 0;

  constructor(head: StreamHead, quirks: Quirks) {
    this.#head = head;
    this.#quirks = quirks;
    this.#events = new EventWriter(quirks);
    const { id, created, model } = head;
    this.#start = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
    this.#around = {
      role: around('role', quirks),
      text: around('text', quirks),
      reasoning: around('reasoning', quirks),
      tools: around('tools', quirks),
      none: around('none', quirks),
    };
  }

  /** One packet for the parts that arrived together. */
  write(parts: Parts): string | Buffer {
    let text = '';
    for (const part of parts) text += this.#part(part);
    return this.#events.packet(text);
  }

  /** The packet that ends a complete stream. */
  end(): string | Buffer {
    return this.#events.lastPacket(this.#events.done());
  }

  #part(part: Part): string {
    switch (part.type) {
      case 'usage': {
        if (this.#quirks.has('no_usage') || !this.#head.includeUsage) return '';
        const usage = JSON.stringify(engineUsage(part.usage));
        return this.#events.event(`${this.#start},"choices":[],"usage":${usage}}`);
      }
      case 'failure':
        return this.#events.event(JSON.stringify(engineError(part.error)));
      default:
        return this.#choicePart(part);
    }
  }

  #choicePart(part: Exclude<Part, { type: 'usage' | 'failure' }>): string {
    let text = '';
    let choice = this.#choices.get(part.choice);
    if (choice === undefined) {
      choice = { thinking: this.#head.isMidThought && this.#quirks.has('think_tags'), call: undefined };
      this.#choices.set(part.choice, choice);
      if (!this.#quirks.has('no_role'))
        text += this.#chunk(part.choice, 'role', '"role":"assistant","content":""');
    }
    if (part.type === 'reasoning') return text + this.#thought(part.choice, choice, part.text);
    if (choice.thinking) {
      choice.thinking = false;
      text += this.#chunk(part.choice, 'text', `"content":"${toJsonText('\n</think>\n\n')}"`);
    }
    return text + this.#spoken(part, choice);
  }

  #thought(index: number, choice: Choice, text: JsonText): string {
    this.#completion += 1;
    this.#reasoning += 1;
    if (!this.#quirks.has('think_tags')) return this.#chunk(index, 'reasoning', this.#thoughtFields(text));
    const opening = choice.thinking ? '' : toJsonText('<think>\n');
    choice.thinking = true;
    return this.#chunk(index, 'text', `"content":"${opening}${text}"`);
  }

  #thoughtFields(text: JsonText): string {
    if (this.#quirks.has('reasoning_both')) return `"reasoning":"${text}","reasoning_content":"${text}"`;
    return this.#quirks.has('reasoning_content') ? `"reasoning_content":"${text}"` : `"reasoning":"${text}"`;
  }

  #spoken(part: Exclude<Part, { type: 'usage' | 'failure' | 'reasoning' }>, choice: Choice): string {
    switch (part.type) {
      case 'text': {
        this.#completion += 1;
        const logprobs = part.logprobs && JSON.stringify({ content: part.logprobs });
        return this.#chunk(part.choice, 'text', `"content":"${part.text}"`, logprobs);
      }
      case 'tool-call': {
        const before = this.#wholeCall(part.choice, choice);
        choice.call = { head: part, arguments: '' };
        if (this.#wholeCalls()) return before;
        return this.#chunk(part.choice, 'tools', `"tool_calls":[${callHeadJson(part, this.#quirks)}]`);
      }
      case 'tool-arguments':
        this.#completion += 1;
        addArguments(choice.call, part.text);
        if (this.#wholeCalls()) return '';
        return this.#chunk(part.choice, 'tools', `"tool_calls":[${callPieceJson(part.call, part.text)}]`);
      case 'finish': {
        const isTools = part.reason === 'tool_calls' && this.#quirks.has('stop_for_tools');
        const finish = `"${isTools ? 'stop' : part.reason}","stop_reason":${JSON.stringify(part.stopSequence ?? null)}`;
        const before = this.#wholeCall(part.choice, choice);
        return before + this.#chunk(part.choice, 'none', '', undefined, finish);
      }
    }
  }

  #wholeCalls(): boolean {
    return this.#quirks.has('whole_tool_calls') || this.#quirks.has('arguments_object');
  }

  /** The call that was collected, if calls are sent in one piece. */
  #wholeCall(index: number, choice: Choice): string {
    if (choice.call === undefined || !this.#wholeCalls()) return '';
    const call = callJson(choice.call, this.#quirks, choice.call.head.call);
    choice.call = undefined;
    return this.#chunk(index, 'tools', `"tool_calls":[${call}]`);
  }

  #chunk(index: number, delta: Delta, fields: string, logprobs = 'null', finish = 'null'): string {
    const { before, after } = this.#around[delta];
    return this.#events.event(
      `${this.#start},"choices":[{"index":${index},"delta":{${before}${fields}${after}},"logprobs":${logprobs},"finish_reason":${finish}}]${this.#usageSoFar()}}`,
    );
  }

  #usageSoFar(): string {
    if (this.#quirks.has('null_usage')) return ',"usage":null';
    if (!this.#quirks.has('usage_every_chunk')) return '';
    const usage = {
      prompt: this.#head.promptTokens,
      completion: this.#completion,
      cached: 0,
      reasoning: this.#reasoning,
    };
    return `,"usage":${JSON.stringify(engineUsage(usage))}`;
  }
}

function around(delta: Delta, quirks: Quirks): { before: string; after: string } {
  const nulls = quirks.has('null_deltas');
  const before = quirks.has('role_every_chunk') && delta !== 'role' ? ['"role":"assistant"'] : [];
  const after: string[] = [];
  if (delta !== 'tools' && quirks.has('empty_tool_calls')) after.push('"tool_calls":[]');
  else if (delta !== 'tools' && nulls) after.push('"tool_calls":null');
  if (nulls && delta !== 'role' && delta !== 'text') after.push('"content":null');
  if (nulls && delta !== 'reasoning') after.push('"reasoning_content":null');
  // An empty delta has no fields of its own to put commas around.
  if (delta === 'none') return { before: [...before, ...after].join(','), after: '' };
  return {
    before: before.map((field) => `${field},`).join(''),
    after: after.map((field) => `,${field}`).join(''),
  };
}
