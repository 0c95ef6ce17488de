/** The built-in engine: answers every kind of call without a model, the same way each time, at a set pace. */
import type { Engine } from '../../ports/engine.ts';
import { simulateChat } from './chat.ts';
import { type Clock, systemClock, Ticker } from './ticker.ts';

export interface SimulatorOptions {
  /** Tokens a second of each answer; `Number.POSITIVE_INFINITY` for as fast as the reader takes them. */
  readonly rate?: number;
  /** Milliseconds before the first token. */
  readonly first?: number;
  readonly clock?: Clock;
}

const defaultRate = 200;

export function createSimulator(options: SimulatorOptions = {}): Engine {
  const pace = { rate: options.rate ?? defaultRate, first: options.first ?? 0 };
  const ticker = new Ticker(options.clock ?? systemClock);
  return {
    chat: (model, call, flow) => simulateChat(model, call, flow, pace, ticker),
  };
}
