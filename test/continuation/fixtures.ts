/** A gateway in front of scripted replicas of an engine that continues, and what a client reads of its streams. */
import type { Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import {
  event,
  type ReceivedRequest,
  type ScriptedEngine,
  startScriptedEngine,
} from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';

/** `number` counts the calls to all replicas. */
export type PoolScript = (request: ReceivedRequest, number: number) => void | Promise<void>;

export interface PoolOptions {
  readonly replicas?: number;
  /** Further fields of the rows, each after a comma. */
  readonly engine?: string;
  readonly model?: string;
  readonly continues?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Pool {
  readonly gateway: TestGateway;
  readonly engines: readonly ScriptedEngine[];
  readonly events: readonly UsageEvent[];
  /** Bodies of the calls so far, in their order. */
  readonly calls: readonly Record<string, unknown>[];
  script: PoolScript;
  post(body: object, path?: string, signal?: AbortSignal): Promise<Response>;
  stream(body?: object, path?: string): Promise<Streamed>;
  /** The value of a metric without labels but the engine. */
  metric(name: string): Promise<number>;
}

export const question = [{ role: 'user', content: 'Hi' }] as const;

export const startPool = async (t: Test, script: PoolScript, options: PoolOptions = {}): Promise<Pool> => {
  const { replicas = 2, engine = '', model = '', continues = true, env = {} } = options;
  const calls: Record<string, unknown>[] = [];
  const engines = await Promise.all(
    Array.from({ length: replicas }, () =>
      startScriptedEngine((request) => {
        calls.push(JSON.parse(request.body));
        return pool.script(request, calls.length - 1);
      }),
    ),
  );
  const urls = engines.map(({ url }) => `'${url}'`).join(', ');
  const gateway = await startGateway({
    env: { SLUICE_ADMIN_PORT: '0', ...env },
    catalog: `
engines:
  far: { wire: openai, replicas: [${urls}], continues: ${continues}, forward: [min_p, regex] ${engine} }
models:
  far/chat: { engine: far, served_as: writer, context_length: 131072, tokenizer: simulator, pricing: { prompt: '0.000001', completion: '0.000002' } ${model} }
`,
  });
  const events: UsageEvent[] = [];
  const record = gateway.ports.usage.record.bind(gateway.ports.usage);
  gateway.ports.usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  t.teardown(async () => {
    await gateway.stop();
    for (const one of engines) await one.close();
  });
  const post: Pool['post'] = (body, path = '/chat/completions', signal) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'far/chat',
        ...(path === '/chat/completions' && { messages: question }),
        ...body,
      }),
      ...(signal === undefined ? {} : { signal }),
    });
  const pool: Pool = {
    gateway,
    engines,
    events,
    calls,
    script,
    post,
    stream: async (body = {}, path) => {
      const response = await post({ stream: true, ...body }, path);
      return streamed(await response.text(), response);
    },
    metric: async (name) => {
      const response = await fetch(`${gateway.adminUrl}/metrics`);
      const line = new RegExp(`^${name}\\{engine="far"\\} (.*)$`, 'm').exec(await response.text());
      return Number(line?.[1]);
    },
  };
  return pool;
};

export interface Streamed {
  readonly response: Response;
  readonly events: readonly Record<string, never>[];
  readonly text: string;
  readonly reasoning: string;
  readonly finish: string | null;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  /** The last event. */
  readonly last: { readonly usage?: Record<string, unknown>; readonly x_sluice_attempts?: number };
  readonly raw: string;
}

/** What a chat client makes of a stream. */
export const streamed = (raw: string, response: Response): Streamed => {
  const events = [...raw.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']) => JSON.parse(json));
  const choices = events.flatMap(({ choices = [] }) => choices);
  return {
    raw,
    response,
    events,
    text: choices.map(({ delta, text }) => delta?.content ?? text ?? '').join(''),
    reasoning: choices.map(({ delta }) => delta?.reasoning ?? '').join(''),
    finish: choices.findLast(({ finish_reason }) => finish_reason != null)?.finish_reason ?? null,
    error: events.find(({ error }) => error !== undefined)?.error,
    last: events.at(-1) ?? {},
  };
};

/** What an engine writes. */
export const text = (content: string) => delta({ content });
export const thought = (reasoning: string) => delta({ reasoning });
export const delta = (fields: object, finish: string | null = null) =>
  event({ id: 'c', choices: [{ index: 0, delta: fields, finish_reason: finish }] });
export const usage = (prompt: number, completion: number) =>
  event({ id: 'c', choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } });

/** Begins a stream; what follows ends it in one way or another. */
export const begin = (request: ReceivedRequest, events: readonly string[]): void => {
  request.streamHead();
  for (const one of events) request.chunk(one);
};

export const finish = (request: ReceivedRequest, events: readonly string[], reason = 'stop'): void => {
  begin(request, [...events, delta({}, reason), usage(99, 77), 'data: [DONE]\n\n']);
  request.end();
};

/** How a replica breaks a stream off. */
export const breaks = {
  reset: (request: ReceivedRequest) => void setTimeout(() => request.reset(), 20),
  'connection closed': (request: ReceivedRequest) => void request.socket.end(),
  'body ended': (request: ReceivedRequest) => request.end(),
  abort: (request: ReceivedRequest) => {
    request.chunk(`${delta({ content: '' }, 'abort')}data: [DONE]\n\n`);
    request.end();
  },
  'error event': (request: ReceivedRequest) => {
    request.chunk(event({ error: { message: 'EngineCore died', type: 'InternalServerError', code: 500 } }));
    request.end();
  },
  'idle timeout': () => undefined,
} as const;

/** The first call breaks off after these events, the second goes on with those. */
export const brokenThen =
  (before: readonly string[], after: readonly string[]): PoolScript =>
  (request, number) => {
    if (number > 0) return finish(request, after);
    begin(request, before);
    return breaks['connection closed'](request);
  };

export const recorded = (events: readonly UsageEvent[]): Promise<UsageEvent> =>
  eventually(() => events[0], 'usage is recorded');
