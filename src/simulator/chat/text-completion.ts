/** Simulates a text completion: every prompt is answered as a question would be. */
import { defer, map, type Observable } from 'rxjs';
import { ApiError, fail } from '../../errors.ts';
import { type ChatCall, type Logprob, type Part, type Parts, toJsonText } from '../../ports/engines/chat.ts';
import type { CompletionCall } from '../../ports/engines/completion.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { splitTokens } from '../../tokens/simulator.ts';
import { hashText, Random } from '../random.ts';
import type { Ticker } from '../ticker.ts';
import type { ChatPace } from './chat.ts';
import type { SimulatedChoice } from './completion.ts';
import { type Conversation, promptTokens, readConversation } from './conversation.ts';
import { logprobOf } from './logprobs.ts';
import { planAnswer, seedOf } from './plan.ts';
import { play } from './playback.ts';

const answerLimit = 128;

/** Each prompt's directives are its own, but pace, faults and usage are those of the first. */
export const simulateCompletion = (
  call: CompletionCall,
  flow: Flow,
  pace: ChatPace,
  ticker: Ticker,
): Observable<Parts> =>
  defer(() => {
    if (call.prompts.length * call.n > answerLimit)
      throw fail('invalid_request', `n must be at most ${answerLimit} for all prompts together`);
    const questions = call.prompts.map((prompt) => {
      const chat = chatOf(call, prompt);
      return { chat, conversation: conversationOf(chat) };
    });
    const {
      first,
      rate,
      faults,
      usage,
      cached = 0,
    } = questions[0]?.conversation.directives ?? { faults: [] };
    const script = {
      answers: questions.flatMap(({ chat, conversation }, at) => answersTo(chat, conversation, at * call.n)),
      first: first ?? pace.first,
      interval: 1000 / (rate ?? pace.rate),
      faults,
      usage:
        usage === 'off'
          ? undefined
          : (completion: number) => {
              const prompt = promptTokens(call);
              return { prompt, completion, cached: Math.min(cached, prompt), reasoning: 0 };
            },
    };
    const parts = play(script, ticker, flow);
    if (!call.echo) return parts;
    return parts.pipe(map((some, index) => (index === 0 ? [...echoOf(call), ...some] : some)));
  });

const chatOf = (
  { stream, maxTokens, n, sampling, stop, logprobs, user }: CompletionCall,
  prompt: CompletionCall['prompts'][number],
): ChatCall => {
  if (typeof prompt !== 'string')
    throw fail('invalid_request', 'prompt must be text: the simulator has no vocabulary of token ids');
  return {
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
    stream,
    maxTokens,
    n,
    continueFinal: false,
    thinking: { effort: 'none', budget: undefined },
    sampling,
    stop,
    logprobs,
    tools: [],
    toolChoice: 'none',
    parallelToolCalls: undefined,
    format: { type: 'text' },
    user,
  };
};

const conversationOf = (chat: ChatCall): Conversation => {
  try {
    return readConversation(chat);
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    throw fail(thrown.kind, thrown.message.replace('messages[0].content', 'prompt'), { cause: thrown });
  }
};

const answersTo = (chat: ChatCall, conversation: Conversation, first: number): readonly SimulatedChoice[] => {
  const seed = seedOf(chat, conversation);
  return Array.from({ length: chat.n }, (_, index) =>
    planAnswer({}, chat, conversation, seed, first + index),
  );
};

/** The prompts, token by token where their log-probabilities are wanted. */
const echoOf = ({ prompts, n, logprobs }: CompletionCall): readonly Part[] =>
  prompts.flatMap((prompt, at) =>
    Array.from({ length: n }, (_, index): Part => {
      const text = String(prompt);
      const part = { type: 'text', choice: at * n + index, text: toJsonText(text) } as const;
      return logprobs === undefined ? part : { ...part, logprobs: promptLogprobs(text, logprobs.top) };
    }),
  );

const promptLogprobs = (text: string, top: number): readonly Logprob[] => {
  const random = new Random(hashText(text));
  return [...splitTokens(text)].map((token, at) => {
    const own = logprobOf(token, top, random);
    return at === 0 ? { ...own, logprob: null, top_logprobs: [] } : own;
  });
};
