/** Collects the parts of an engine's response and how it ended. */
import { pino } from 'pino';
import type { Subscription } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { createEngine, type RunningEngine } from '../../src/engines/engine.ts';
import { type ApiError, asApiError } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { ChatCall, Part } from '../../src/ports/engines/chat.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import { sampleCall, sampleModel } from '../samples.ts';
import { joined } from '../wires/samples.ts';

export const silent = pino({ level: 'silent' });

export const engineOn = (replicas: readonly string[], change: Partial<EngineRow> = {}): RunningEngine =>
  createEngine(
    'pool-a',
    { wire: 'openai', replicas: [...replicas], ...change },
    { log: silent, env: process.env },
  );

export const chatOf = ({ chat }: Engine): NonNullable<Engine['chat']> => {
  if (chat === undefined) throw new Error('The engine does not chat');
  return chat;
};

export class Collected {
  readonly parts: Part[] = [];
  emissions = 0;
  readonly backpressure = new Backpressure();
  /** Settles when the answer has ended. */
  readonly ended: Promise<ApiError | undefined>;
  readonly subscription: Subscription;
  #listeners: (() => void)[] = [];

  constructor(
    engine: Engine,
    call: Partial<ChatCall> = {},
    onParts?: (self: Collected) => void,
    model: Model = sampleModel(),
  ) {
    let settle: (error: ApiError | undefined) => void = () => undefined;
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    const answer = chatOf(engine)(model, sampleCall(call), {
      requestId: 'req-1',
      subscription: 'sub_1',
      backpressure: this.backpressure,
    });
    this.subscription = answer.subscribe({
      next: (parts) => {
        this.emissions++;
        this.parts.push(...parts);
        onParts?.(this);
        for (const listener of this.#listeners.splice(0)) listener();
      },
      error: (error: unknown) => settle(asApiError(error)),
      complete: () => settle(undefined),
    });
  }

  /** Settles with the next emission. */
  more(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** What a reader saw: texts joined, failures as their kind and message, and the error if there was one instead. */
  async outcome() {
    const error = await this.ended;
    return {
      parts: joined(this.parts).map((part) =>
        part.type === 'failure' ? ['failure', part.error.kind, part.error.message] : part,
      ),
      error: error && [error.kind, error.message],
    };
  }
}

export const ask = (engine: RunningEngine, call: Partial<ChatCall> = {}) =>
  new Collected(engine, call).outcome();
