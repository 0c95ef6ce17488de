/** Requests the rest of a chat or text completion that broke off, from what was delivered of it. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { ChatCall, ChatMessage, Forwarded, Thinking } from '../../../ports/engines/chat.ts';
import type { CompletionCall } from '../../../ports/engines/completion.ts';
import type { ContinuationWire, DeliveredAnswer } from '../../wire.ts';
import { encodeCompletion } from './completions.ts';
import { OpenAiStreamDecoder } from './decode-stream.ts';
import { encodeChat } from './encode.ts';

/** Fields of servers whose meaning does not depend on where an answer begins; guided decoding, for one, does. */
const independent: ReadonlySet<string> = new Set([
  'allowed_token_ids',
  'cache_salt',
  'chat_template_kwargs',
  'ignore_eos',
  'metadata',
  'min_p',
  'mm_processor_kwargs',
  'priority',
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  'stop_token_ids',
  'store',
  'top_a',
  'typical_p',
]);

const areIndependent = (forwarded: Forwarded = {}): boolean =>
  Object.keys(forwarded).every((name) => independent.has(name));

/** The answer so far is a final message of the assistant, to be continued. */
export const chatContinuation: ContinuationWire<ChatCall> = {
  allows: ({ n, logprobs, format, tools, toolChoice, forwarded }) =>
    n === 1 &&
    logprobs === undefined &&
    format.type === 'text' &&
    // A tool that must be called is enforced by a grammar.
    (tools.length === 0 || toolChoice === 'auto' || toolChoice === 'none') &&
    areIndependent(forwarded),

  rest: (model, call, row, delivered) => {
    // What was reasoned about a message that is continued has no place in it.
    if (call.continueFinal && delivered.reasoning !== '') return undefined;
    const text = withoutEnd(delivered.text);
    const reasoning = withoutEnd(delivered.reasoning);
    const within =
      text !== '' ? 'text' : reasoning === '' ? undefined : delivered.inTags ? 'tags' : 'reasoning';
    const maxTokens = call.maxTokens - delivered.textTokens - delivered.reasoningTokens;
    const rest = { ...call, maxTokens, ...restOf(model, call, delivered, { text, reasoning }) };
    return {
      request: { path: '/chat/completions', body: encodeChat(model, rest, row) },
      stream: new OpenAiStreamDecoder({
        choices: 1,
        thinks: model.reasoning !== undefined,
        ...(within === undefined ? {} : { within }),
      }),
      unsent: {
        text: delivered.text.slice(text.length),
        reasoning: delivered.reasoning.slice(reasoning.length),
      },
    };
  },
};

interface Sent {
  readonly text: string;
  readonly reasoning: string;
}

const restOf = (
  model: Model,
  call: ChatCall,
  { reasoningTokens }: DeliveredAnswer,
  { text, reasoning }: Sent,
): Partial<ChatCall> => {
  if (text !== '')
    return {
      messages: withFinal(call, text, reasoning),
      continueFinal: true,
      thinking: noMoreThinking(model, call),
    };
  // Nothing yet, or nothing but white space.
  if (reasoning === '') return {};
  const { effort, budget } = call.thinking;
  const left = budget === undefined ? undefined : Math.max(1, budget - reasoningTokens);
  // The tag that templates have before reasoning; the model closes it.
  const messages = withFinal(call, `<think>\n${reasoning}`, '');
  return { messages, continueFinal: true, thinking: { effort, budget: left } };
};

/** As for a message that the client wants to have continued: the reasoning is over. */
const noMoreThinking = ({ reasoning }: Model, { thinking }: ChatCall): Thinking =>
  reasoning === undefined
    ? thinking
    : { effort: reasoning.mandatory ? undefined : 'none', budget: undefined };

const withFinal = (
  { messages, continueFinal }: ChatCall,
  text: string,
  reasoning: string,
): readonly ChatMessage[] => {
  const last = messages.at(-1);
  if (continueFinal && last?.role === 'assistant') {
    const parts = last.content.slice(0, -1);
    const begun = last.content.at(-1)?.text ?? '';
    return [...messages.slice(0, -1), { ...last, content: [...parts, { type: 'text', text: begun + text }] }];
  }
  const thoughts = reasoning === '' ? {} : { thoughts: [{ before: 0, text: reasoning, signature: '' }] };
  return [...messages, { role: 'assistant', content: [{ type: 'text', text }], toolCalls: [], ...thoughts }];
};

/** Templates cut white space at the end of a message, and half a character cannot be sent: the rest begins with both. */
const withoutEnd = (text: string): string => withoutHalf(text).trimEnd();

const withoutHalf = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);

/** The prompt grows by the text so far. */
export const textContinuation: ContinuationWire<CompletionCall> = {
  allows: ({ prompts, n, logprobs, echo, forwarded }) =>
    prompts.length === 1 &&
    typeof prompts[0] === 'string' &&
    n === 1 &&
    logprobs === undefined &&
    !echo &&
    areIndependent(forwarded),

  rest: (model, call, _row, delivered) => {
    const text = withoutHalf(delivered.text);
    const prompts = [`${String(call.prompts[0])}${text}`];
    const rest = { ...call, prompts, maxTokens: call.maxTokens - delivered.textTokens };
    return {
      request: { path: '/completions', body: encodeCompletion(model, rest) },
      stream: new OpenAiStreamDecoder({ choices: 1, thinks: false }),
      unsent: { text: delivered.text.slice(text.length), reasoning: '' },
    };
  },
};
