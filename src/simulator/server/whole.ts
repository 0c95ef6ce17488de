/** Writes a whole chat response with the chosen quirks. */
import {
  fromJsonText,
  type Logprob,
  type Part,
  type Parts,
  type TokenUsage,
} from '../../ports/engines/chat.ts';
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

interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Collects parts until `json` is called. */
export const wholeAnswer = ({ id, created, model }: AnswerHead, quirks: Quirks) => {
  const choices = new Map<number, Choice>();
  let usage: TokenUsage | undefined;
  const choiceOf = (index: number): Choice => {
    const known = choices.get(index);
    if (known !== undefined) return known;
    const choice: Choice = { text: '', reasoning: '', logprobs: [], calls: [], finish: undefined };
    choices.set(index, choice);
    return choice;
  };
  return {
    add(parts: Parts): void {
      for (const part of parts) {
        if (part.type === 'usage') usage = part.usage;
        else if (part.type !== 'failure') addTo(choiceOf(part.choice), part);
      }
    },
    json(): string {
      const all = [...choices].map(([index, choice]) => choiceJson(index, choice, quirks));
      const start = JSON.stringify({ id, object: 'chat.completion', created, model });
      const counted = quirks.has('no_usage') || usage === undefined ? null : engineUsage(usage);
      return `${start.slice(0, -1)},"choices":[${all.join()}],"usage":${JSON.stringify(counted)}}`;
    },
  };
};

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
