/** Clients that send requests, read, disconnect and retry, and record what each response was. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../src/simulator/random.ts';
import type { Stack } from './stack.ts';

export interface Sight {
  /** `x-request-id`; undefined when no head of an answer came. */
  readonly id: string | undefined;
  /** `completed`: the last byte came. `cut`: the connection broke before. `left`: the client went. */
  readonly outcome: 'completed' | 'failed' | 'cut' | 'left';
  /** What a completed answer said of itself. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** Tokens that were asked for. */
  readonly tokens: number;
}

export interface Load {
  readonly sights: readonly Sight[];
  /** Lets running requests end. */
  stop(): Promise<void>;
}

export const startLoad = (stack: Stack, random: Random, clients: number): Load => {
  const sights: Sight[] = [];
  let stopped = false;
  const client = async (dice: Random): Promise<void> => {
    while (!stopped) {
      const sight = await ask(stack, dice);
      sights.push(sight);
      // A gateway that is down refuses at once: do not retry in a tight loop.
      if (sight.id === undefined) await delay(200);
    }
  };
  const running = Array.from({ length: clients }, (_, number) => client(random.fork(`client ${number}`)));
  return {
    sights,
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
};

const ask = async ({ urls, key, model }: Stack, dice: Random): Promise<Sight> => {
  const tokens = dice.integer(1, 60);
  const stream = dice.fraction() < 0.6;
  const fate = dice.fraction();
  const words = [`/sim tokens=${tokens}`, `rate=${dice.pick(['max', '400/s', '100/s'])}`];
  if (fate < 0.05) words.push('fail=503@0');
  else if (fate < 0.1) words.push(`fail=502@${dice.integer(1, tokens)}`);
  const leaves = fate > 0.95 ? dice.integer(5, 200) : undefined;
  const url = urls[dice.integer(0, urls.length - 1)];
  const leaving = new AbortController();
  const timer = leaves === undefined ? undefined : setTimeout(() => leaving.abort(), leaves);
  let id: string | undefined;
  const exchange = async (): Promise<Sight> => {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream,
        messages: [{ role: 'user', content: `${words.join(' ')}\nGo on.` }],
      }),
      signal: leaving.signal,
    });
    id = response.headers.get('x-request-id') ?? undefined;
    const body = await response.text();
    return {
      id,
      tokens,
      ...(response.ok ? (stream ? readStream(body) : readWhole(body)) : { outcome: 'failed' }),
    };
  };
  try {
    // Node's fetch now and then never settles once it is aborted.
    return await Promise.race([exchange(), aborted(leaving.signal)]);
  } catch {
    return { id, tokens, outcome: leaving.signal.aborted ? 'left' : 'cut' };
  } finally {
    clearTimeout(timer);
  }
};

const aborted = async (signal: AbortSignal): Promise<never> => {
  await once(signal, 'abort');
  throw signal.reason;
};

type Ending = Pick<Sight, 'outcome' | 'usage'>;

const readWhole = (body: string): Ending => ({ outcome: 'completed', usage: JSON.parse(body).usage });

/** A stream may end as HTTP wants it and still not be whole: only `[DONE]` says that it is. */
const readStream = (body: string): Ending => {
  if (!body.endsWith('data: [DONE]\n\n')) return { outcome: 'cut' };
  const chunks = [...body.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? ''));
  if (chunks.some((chunk) => chunk.error !== undefined)) return { outcome: 'failed' };
  return { outcome: 'completed', usage: chunks.find((chunk) => chunk.usage !== undefined)?.usage };
};
