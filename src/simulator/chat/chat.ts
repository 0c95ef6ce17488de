/** Simulates a chat model: plans the answers to a call and plays them. */
import { defer, type Observable } from 'rxjs';
import { fail } from '../../errors.ts';
import type { ChatCall, Parts, TokenUsage } from '../../ports/engines/chat.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { countTokens } from '../../tokens/simulator.ts';
import type { Fault } from '../directives.ts';
import type { Ticker } from '../ticker.ts';
import { type Conversation, promptTokens, readConversation } from './conversation.ts';
import { planAnswer, seedOf } from './plan.ts';
import { play } from './playback.ts';
import type { ThinkingModel } from './thinking.ts';

export interface ChatPace {
  /** Tokens a second of each answer; infinite for as fast as the reader takes them. */
  readonly rate: number;
  /** Milliseconds before the first token. */
  readonly first: number;
}

const answerLimit = 128;

export const simulateChat = (
  model: ThinkingModel,
  call: ChatCall,
  flow: Flow,
  pace: ChatPace,
  ticker: Ticker,
): Observable<Parts> =>
  defer(() => {
    if (call.n > answerLimit) throw fail('invalid_request', `n must be at most ${answerLimit}`);
    const conversation = readConversation(call);
    const { directives } = conversation;
    const seed = seedOf(call, conversation);
    const script = {
      answers: Array.from({ length: call.n }, (_, choice) =>
        planAnswer(model, call, conversation, seed, choice),
      ),
      first: directives.first ?? pace.first,
      interval: 1000 / (directives.rate ?? pace.rate),
      faults: faultsAfter(conversation),
      usage: directives.usage === 'off' ? undefined : countUsage(call, directives.cached ?? 0),
    };
    return play(script, ticker, flow);
  });

/** Places count from the beginning of an answer, also of one that is carried on. */
function faultsAfter({ directives, begun, begunThought = '' }: Conversation): readonly Fault[] {
  const before = countTokens(begunThought) + countTokens(begun);
  if (before === 0) return directives.faults;
  return directives.faults.flatMap((fault) =>
    fault.after > before ? [{ ...fault, after: fault.after - before }] : [],
  );
}

function countUsage(call: ChatCall, cached: number): (completion: number, reasoning: number) => TokenUsage {
  return (completion, reasoning) => {
    const prompt = promptTokens(call);
    return { prompt, completion, cached: Math.min(cached, prompt), reasoning };
  };
}
