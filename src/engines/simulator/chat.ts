/** A chat call in; the simulator's answers to it out, as a stream of parts. */
import { defer, type Observable } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { fail } from '../../errors.ts';
import type { ChatCall, Parts, TokenUsage } from '../../ports/chat.ts';
import type { Flow } from '../../ports/engine.ts';
import { Answer, type Section } from './answer.ts';
import { type Conversation, promptTokens, readConversation } from './conversation.ts';
import { play } from './playback.ts';
import { answerText, thoughtText } from './prose.ts';
import { hashText, Random } from './random.ts';
import { thinkingTokens } from './thinking.ts';
import type { Ticker } from './ticker.ts';
import { splitTokens } from './tokens.ts';

export interface ChatPace {
  /** Tokens a second of each answer; infinite for as fast as the reader takes them. */
  readonly rate: number;
  /** Milliseconds before the first token. */
  readonly first: number;
}

const answerLimit = 128;

export const simulateChat = (
  model: Model,
  call: ChatCall,
  flow: Flow,
  pace: ChatPace,
  ticker: Ticker,
): Observable<Parts> =>
  defer(() => {
    if (call.n > answerLimit) throw fail('invalid_request', `n must be at most ${answerLimit}`);
    const conversation = readConversation(call);
    const { directives } = conversation;
    const performance = {
      answers: Array.from({ length: call.n }, (_, choice) => planAnswer(model, call, conversation, choice)),
      first: directives.first ?? pace.first,
      interval: 1000 / (directives.rate ?? pace.rate),
      faults: directives.faults,
      usage: directives.usage === 'off' ? undefined : countUsage(call, directives.cached ?? 0),
    };
    return play(performance, ticker, flow);
  });

function planAnswer(model: Model, call: ChatCall, conversation: Conversation, choice: number): Answer {
  const random = new Random(hashText(`answer ${choice}`, seedOf(call, conversation)));
  const sections: Section[] = [];
  const thinking = thinkingTokens(model, call, conversation.directives.reasoning);
  if (thinking > 0) {
    const tokens = thoughtText(conversation.topics, random.fork('thinking'), thinking);
    sections.push({ type: 'reasoning', tokens });
  }
  sections.push({ type: 'text', tokens: textTokens(conversation, random.fork('text')) });
  return new Answer({
    choice,
    sections,
    finish: conversation.directives.finish ?? 'stop',
    maxTokens: call.maxTokens,
    stop: call.stop,
    logprobs: call.logprobs && { top: call.logprobs.top, random: random.fork('logprobs') },
  });
}

/** Without a seed the conversation is the seed: the same question has the same answer, unless chance is asked for. */
function seedOf(call: ChatCall, conversation: Conversation): number {
  const seed = conversation.directives.seed ?? call.sampling.seed;
  if (seed === 'random') return Math.floor(Math.random() * 0x100000000);
  return seed === undefined ? conversation.hash : hashText(`seed ${seed}`, conversation.hash);
}

function textTokens(conversation: Conversation, random: Random): Iterator<string, undefined> {
  const { directives, question } = conversation;
  if (directives.text !== undefined) return splitTokens(directives.text);
  if (directives.echo) return splitTokens(question);
  return answerText(conversation, random, directives.tokens);
}

function countUsage(call: ChatCall, cached: number): (completion: number, reasoning: number) => TokenUsage {
  return (completion, reasoning) => {
    const prompt = promptTokens(call);
    return { prompt, completion, cached: Math.min(cached, prompt), reasoning };
  };
}
