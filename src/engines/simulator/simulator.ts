/** The built-in engine: answers every kind of call without a model, the same way each time, at a set pace. */
import type { Engine } from '../../ports/engine.ts';
import { type ChatPace, simulateChat } from './chat.ts';
import { simulateDecisions } from './decide.ts';
import { simulateEmbeddings } from './embed.ts';
import { createImageStudio } from './image.ts';
import { type Clock, systemClock, Ticker } from './ticker.ts';

export interface SimulatorOptions {
  /** Tokens a second of each answer; `Number.POSITIVE_INFINITY` for as fast as the reader takes them. */
  readonly rate?: number;
  /** Milliseconds before the first token. */
  readonly first?: number;
  readonly clock?: Clock;
}

/** Fast, and yet one token at a time to the eye. */
const defaultRate = 200;

export const paceOf = ({ rate = defaultRate, first = 0 }: SimulatorOptions): ChatPace => ({ rate, first });

export function createSimulator(options: SimulatorOptions = {}): Engine {
  const pace = paceOf(options);
  const ticker = new Ticker(options.clock ?? systemClock);
  const drawImages = createImageStudio();
  return {
    chat: (model, call, flow) => simulateChat(model, call, flow, pace, ticker),
    embed: (model, call) => simulateEmbeddings(model, call, ticker),
    decide: (_model, call) => simulateDecisions(call, ticker),
    image: (_model, call) => drawImages(call, ticker),
  };
}
