/** A gateway in front of a scripted engine: posts to the one, sees what reached the other and what was billed. */
import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { type Script, type ScriptedEngine, startScriptedEngine } from './scripted-engine.ts';

export interface BehindGateway {
  readonly engine: ScriptedEngine;
  readonly gateway: TestGateway;
  post(path: string, body: unknown): Promise<Answer>;
  /** The JSON that the engine was sent last. */
  sent(): Record<string, unknown>;
  /** The ledger's row of a request. */
  billed(answer: Answer): Promise<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of an answer that is one JSON value. */
  readonly json: Record<string, unknown>;
}

/** `catalog` is given the engine's address; it is the text of a `sluice.yaml`. */
export const startBehindGateway = async (
  t: Test,
  script: Script,
  catalog: (url: string) => string,
): Promise<BehindGateway> => {
  const engine = await startScriptedEngine(script);
  const gateway = await startGateway({ catalog: catalog(engine.url) });
  t.teardown(async () => {
    await gateway.stop();
    await engine.close();
  });
  const authorization = `Bearer ${gateway.key}`;
  return {
    engine,
    gateway,
    post: async (path, body) => {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : {},
      };
    },
    sent: () => JSON.parse(engine.requests.at(-1)?.body ?? '{}'),
    billed: async ({ headers }) => {
      let found: Record<string, unknown> | undefined;
      await eventually(async () => {
        const response = await fetch(`${gateway.url}/usage?group_by=request&limit=100`, {
          headers: { authorization },
        });
        const { data } = (await response.json()) as { data: Record<string, unknown>[] };
        found = data.find(({ request_id }) => request_id === headers.get('x-request-id'));
        return found !== undefined;
      }, 'the request is in the ledger');
      return found ?? {};
    },
  };
};

/** A whole answer as servers write it, with one choice. */
export const completion = (message: object, change: { choice?: object; usage?: object } = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'writer',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', ...message },
      logprobs: null,
      finish_reason: 'stop',
      ...change.choice,
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, ...change.usage },
});

/** The data of a stream's events, but for its end mark. */
export const eventsOf = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']) => JSON.parse(json));
