/** Loads one route, or a sequence of routes counted as one request, from a few clients. */
import { Histogram } from '../histogram.ts';
import { closedMetrics, runClosed } from './closed.ts';
import { Connection } from './connection.ts';
import { rawRequest, type Target } from './request.ts';
import {
  Errors,
  type Extension,
  type Measured,
  type RunResult,
  seconds,
  untilMeasured,
  Window,
} from './window.ts';

export interface Step {
  readonly method: string;
  /** As in the route table, without `/v1`. */
  readonly route: string;
  /** The same with parameters filled in; `{found}` is the value found in the first response. */
  readonly path: string;
  /** Bytes as latin1, so that they survive IPC to the load generator. */
  readonly body?: string;
  readonly type?: string;
  readonly withoutKey?: boolean;
  readonly expected: number;
  /** Polled until the response contains this. */
  readonly until?: string;
}

export interface Route {
  readonly steps: readonly Step[];
  /** A regular expression whose first group is extracted from the first response; default: an `id`. */
  readonly finds?: string;
}

export interface RouteSettings extends Measured, Route {
  readonly target: Target;
  readonly clients: number;
  readonly warmSeconds: number;
  readonly windowSeconds: number;
  /** The maximum extension of the window until each client has one response. */
  readonly longestSeconds?: number;
}

const pollSeconds = 0.05;
const longestStep = 15_000;
const keptCharacters = 65_536;
const pauseAfterFailure = 0.25;

export const runRoute = (settings: RouteSettings): Promise<RunResult> => {
  const [only, ...others] = settings.steps;
  if (only === undefined) throw new Error('a route without a step');
  if (others.length > 0) return runStory(settings);
  const request = bytesOf(settings.target, only, '');
  const { port } = settings.target;
  return runClosed({ ...settings, ...extension(settings), port, request, answered: [only.expected] });
};

const extension = ({ clients, longestSeconds = 10 }: RouteSettings): Extension => ({
  atLeast: clients,
  longestSeconds,
});

const bytesOf = ({ port, headers }: Target, step: Step, found: string): Buffer =>
  rawRequest(
    step.method,
    { port, path: `/v1${step.path.replaceAll('{found}', found)}`, headers: step.withoutKey ? {} : headers },
    step.body === undefined ? undefined : Buffer.from(step.body, 'latin1'),
    step.type,
  );

/** A started sequence runs to its end even after the window: leftover work would count for the next route. */
const runStory = async (settings: RouteSettings): Promise<RunResult> => {
  const window = new Window(settings);
  const errors = new Errors();
  const latency = new Histogram();
  let requests = 0;
  let stopped = false;
  const client = async (): Promise<void> => {
    const teller = new Teller(settings);
    while (!stopped) {
      const startedAt = performance.now();
      const failure = await teller.tell();
      if (failure !== undefined) {
        errors.add(failure);
        await seconds(pauseAfterFailure);
      } else if (window.isOpen) {
        requests += 1;
        latency.record(performance.now() - startedAt);
      }
    }
    teller.leave();
  };
  const clients = Array.from({ length: settings.clients }, client);
  await seconds(settings.warmSeconds);
  window.open();
  await untilMeasured(settings.windowSeconds, () => requests, extension(settings));
  const cost = window.close();
  stopped = true;
  await Promise.all(clients);
  return { errors: errors.byReason, metrics: closedMetrics(cost, requests, latency) };
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

class Teller {
  readonly #settings: RouteSettings;
  #connection: Connection;

  constructor(settings: RouteSettings) {
    this.#settings = settings;
    this.#connection = new Connection(settings.target.port);
  }

  /** Runs all steps; returns the failure, if any. */
  async tell(): Promise<string | undefined> {
    const { steps, finds = '"id":"([^"]+)"' } = this.#settings;
    let found: string | undefined;
    for (const step of steps) {
      const outcome = await this.#take(step, found ?? '');
      if (typeof outcome === 'string') return `${step.method} ${step.route}: ${outcome}`;
      found ??= new RegExp(finds).exec(outcome.text)?.[1];
    }
    return undefined;
  }

  leave(): void {
    this.#connection.leave();
  }

  async #take(step: Step, found: string): Promise<Answer | string> {
    const request = bytesOf(this.#settings.target, step, found);
    const until = performance.now() + longestStep;
    for (;;) {
      const answer = await this.#ask(request);
      if (typeof answer === 'string') return answer;
      if (answer.status !== step.expected) return `status ${answer.status}`;
      if (step.until === undefined || answer.text.includes(step.until)) return answer;
      if (performance.now() > until) return `never ${step.until}`;
      await seconds(pollSeconds);
    }
  }

  #ask(request: Buffer): Promise<Answer | string> {
    if (this.#connection.closed) this.#connection = new Connection(this.#settings.target.port);
    const connection = this.#connection;
    return new Promise((resolve) => {
      let text = '';
      const settle = (outcome: Answer | string): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const timer = setTimeout(() => {
        connection.leave();
        settle('no answer in time');
      }, longestStep);
      connection.send(request, {
        text: (piece) => {
          if (text.length < keptCharacters) text += piece;
        },
        data: () => true,
        end: (_now, status) => settle({ status, text }),
        fail: settle,
      });
    });
  }
}
