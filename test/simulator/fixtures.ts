/** A simulator in virtual time, with calls and collected output for tests. */
import type { Subscription } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import {
  type ChatCall,
  type ChatMessage,
  fromJsonText,
  type Part,
  type Parts,
} from '../../src/ports/engines/chat.ts';
import type { ThinkingModel } from '../../src/simulator/chat/thinking.ts';
import { createSimulator, type SimulatorOptions } from '../../src/simulator/simulator.ts';
import type { Clock } from '../../src/simulator/ticker.ts';
import { sampleCall, userSays } from '../samples.ts';

/** A virtual clock that advances only when a test says so. */
export class VirtualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, milliseconds), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that would fire some day. */
  get armed(): number {
    return this.#timers.size;
  }

  advance(milliseconds: number): void {
    const until = this.#now + milliseconds;
    for (let fired = 0; fired < 1_000_000; fired += 1) {
      const [next] = [...this.#timers].sort((one, other) => one.at - other.at);
      if (next === undefined || next.at > until) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
  }
}

export const plainModel: ThinkingModel = {};
export const thinkingModel: ThinkingModel = {
  reasoning: { mandatory: false, supports_max_tokens: true, default_effort: 'medium', default_enabled: true },
};

export const assistant = (text: string): ChatMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  toolCalls: [],
});

export const callOf = (messages: string | readonly ChatMessage[], over: Partial<ChatCall> = {}): ChatCall =>
  sampleCall({
    messages: typeof messages === 'string' ? [userSays(messages)] : messages,
    maxTokens: 32_768,
    ...over,
  });

export interface Recording {
  /** Each emission with the time it came. */
  readonly emissions: { readonly at: number; readonly parts: Parts }[];
  readonly parts: Part[];
  readonly backpressure: Backpressure;
  readonly subscription: Subscription;
  error: unknown;
  isComplete: boolean;
}

const [anyModel] = defaultCatalog.models;

/** Starts a call; time is moved by the caller. */
export function start(
  clock: VirtualClock,
  call: ChatCall,
  { reasoning }: ThinkingModel = plainModel,
  options: SimulatorOptions = {},
  engine = createSimulator({ clock, ...options }),
  onEmission: (backpressure: Backpressure) => void = () => {},
): Recording {
  if (anyModel === undefined) throw new Error('the default catalog is empty');
  const { reasoning: _, ...rest } = anyModel;
  const model: Model = reasoning === undefined ? rest : { ...rest, reasoning };
  const backpressure = new Backpressure();
  const emissions: Recording['emissions'] = [];
  const parts: Part[] = [];
  const outcome = { error: undefined as unknown, isComplete: false };
  const subscription = engine
    .chat(model, call, { requestId: 'test', subscription: 'sub_1', backpressure })
    .subscribe({
      next(emission) {
        emissions.push({ at: clock.now(), parts: emission });
        parts.push(...emission);
        onEmission(backpressure);
      },
      error(error) {
        outcome.error = error;
      },
      complete() {
        outcome.isComplete = true;
      },
    });
  return Object.assign(outcome, { emissions, parts, backpressure, subscription });
}

/** Runs a call to its end. */
export function run(call: ChatCall, model: ThinkingModel = plainModel): Recording {
  const clock = new VirtualClock();
  const recording = start(clock, call, model);
  clock.advance(3_600_000);
  return recording;
}

export const textOf = (parts: Parts, choice = 0): string =>
  parts
    .map((part) => (part.type === 'text' && part.choice === choice ? fromJsonText(part.text) : ''))
    .join('');

export const thoughtOf = (parts: Parts, choice = 0): string =>
  parts
    .map((part) => (part.type === 'reasoning' && part.choice === choice ? fromJsonText(part.text) : ''))
    .join('');

export const argumentsOf = (parts: Parts, call = 0, choice = 0): string =>
  parts
    .map((part) =>
      part.type === 'tool-arguments' && part.call === call && part.choice === choice
        ? fromJsonText(part.text)
        : '',
    )
    .join('');

export const finishOf = (parts: Parts, choice = 0) =>
  parts.find((part) => part.type === 'finish' && part.choice === choice);

export const usageOf = (parts: Parts) => parts.find((part) => part.type === 'usage')?.usage;
