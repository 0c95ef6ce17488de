/** Writes a whole chat response with the chosen quirks. */
import { fromJsonText, type Logprob, type Part, type Parts, type TokenUsage } from '../../ports/chat.ts';
import type { Quirks } from './quirks.ts';
import { engineUsage } from './responses.ts';
import { addArguments, callJson, type OpenCall } from './tool-call-json.ts';

interface Choice {
  text: string;
  reasoning: string;
  logprobs: Logprob[];
  calls: OpenCall[];
  finish: (Part & { type: 'finish' }) | undefined;
}

export class WholeAnswer {
  readonly #choices = new Map<number, Choice>();
  #usage: TokenUsage | undefined;

  add(parts: Parts): void {
    for (const part of parts) {
      if (part.type === 'usage') this.#usage = part.usage;
      else if (part.type !== 'failure') addTo(this.#choice(part.choice), part);
    }
  }

  json(
    head: { readonly id: string; readonly created: number; readonly model: string },
    quirks: Quirks,
  ): string {
    const choices = [...this.#choices].map(([index, choice]) => choiceJson(index, choice, quirks));
    const start = JSON.stringify({
      id: head.id,
      object: 'chat.completion',
      created: head.created,
      model: head.model,
    });
    const usage = quirks.has('no_usage') || this.#usage === undefined ? null : engineUsage(this.#usage);
    return `${start.slice(0, -1)},"choices":[${choices.join()}],"usage":${JSON.stringify(usage)}}`;
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { text: '', reasoning: '', logprobs: [], calls: [], finish: undefined };
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

function addTo(choice: Choice, part: Exclude<Part, { type: 'usage' | 'failure' }>): void {
  switch (part.type) {
    case 'text':
      choice.text += fromJsonText(part.text);
      if (part.logprobs !== undefined) choice.logprobs.push(...part.logprobs);
      return;
    case 'reasoning':
      choice.reasoning += fromJsonText(part.text);
      return;
    case 'tool-call':
      choice.calls.push({ head: part, arguments: '' });
      return;
    case 'tool-arguments':
      addArguments(choice.calls.at(-1), part.text);
      return;
    case 'finish':
      choice.finish = part;
  }
}

function choiceJson(index: number, choice: Choice, quirks: Quirks): string {
  const { text, reasoning, calls, finish, logprobs } = choice;
  const isTagged = quirks.has('think_tags') && reasoning !== '';
  const message = {
    role: 'assistant',
    content: isTagged
      ? `<think>\n${reasoning}\n</think>\n\n${text}`
      : text === '' && calls.length > 0
        ? null
        : text,
    ...(isTagged || reasoning === '' ? {} : reasoningFields(reasoning, quirks)),
  };
  const toolCalls = calls.map((call) => callJson(call, quirks)).join();
  const isShown = calls.length > 0 || quirks.has('empty_tool_calls');
  const reason = finish?.reason === 'tool_calls' && quirks.has('stop_for_tools') ? 'stop' : finish?.reason;
  const rest = {
    logprobs: logprobs.length > 0 ? { content: logprobs } : null,
    finish_reason: reason ?? null,
    stop_reason: finish?.stopSequence ?? null,
  };
  const messageJson =
    JSON.stringify(message).slice(0, -1) + (isShown ? `,"tool_calls":[${toolCalls}]}` : '}');
  return `{"index":${index},"message":${messageJson},${JSON.stringify(rest).slice(1)}`;
}

function reasoningFields(reasoning: string, quirks: Quirks): Readonly<Record<string, string>> {
  if (quirks.has('reasoning_both')) return { reasoning, reasoning_content: reasoning };
  return quirks.has('reasoning_content') ? { reasoning_content: reasoning } : { reasoning };
}
