/** A gateway with a model on an engine in trouble, and fallbacks of it on engines that work. */
import type { Test } from 'tap';
import { completion } from '../engines/behind-gateway.ts';
import { event, type Script, type ScriptedEngine, startScriptedEngine } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';

export const asked = 'test/asked';
export const other = 'test/other';

export interface Site {
  readonly gateway: TestGateway;
  /** Of the model that is asked for. */
  readonly sick: ScriptedEngine;
  /** Of its fallback. */
  readonly well: ScriptedEngine;
  /** All rows of the ledger, the oldest first, once there are so many. */
  billed(count: number): Promise<readonly Record<string, unknown>[]>;
  metric(name: string): Promise<number>;
  /** Lines of the log with this message. */
  logged(message: string): readonly Record<string, unknown>[];
  post(path: string, body: unknown): Promise<Response>;
}

type Rows = Readonly<Record<string, object>>;

interface SiteOptions {
  /** Over the row of the engine in trouble. */
  readonly engine?: object;
  /** Further engines and models. */
  readonly engines?: Rows;
  readonly models?: Rows;
  /** Of the model that is asked for. */
  readonly row?: object;
  readonly otherRow?: object;
  readonly env?: Readonly<Record<string, string>>;
}

const chat = {
  context_length: 8192,
  tokenizer: 'simulator',
  limits: { concurrency: 100, requests_per_minute: 1000 },
};

export const startSite = async (t: Test, script: Script, options: SiteOptions = {}): Promise<Site> => {
  const sick = await startScriptedEngine(script);
  const well = await startScriptedEngine(answer('Hello'));
  const catalog = {
    engines: {
      sick: {
        wire: 'openai',
        replicas: [sick.url],
        timeouts: { connect: '20s', first_byte: '2m' },
        ...options.engine,
      },
      well: { wire: 'openai', replicas: [well.url] },
      ...options.engines,
    },
    models: {
      [asked]: {
        ...chat,
        engine: 'sick',
        served_as: 'big',
        pricing: { prompt: '0.001', completion: '0.002' },
        fallbacks: [other],
        ...options.row,
      },
      [other]: {
        ...chat,
        engine: 'well',
        served_as: 'small',
        pricing: { prompt: '0.00001', completion: '0.00002' },
        ...options.otherRow,
      },
      ...options.models,
    },
  };
  const gateway = await startGateway({
    catalog: JSON.stringify(catalog),
    env: { SLUICE_ADMIN_PORT: '0', ...options.env },
  });
  t.teardown(async () => {
    await gateway.stop();
    await Promise.all([sick.close(), well.close()]);
  });
  const authorization = `Bearer ${gateway.key}`;
  return {
    gateway,
    sick,
    well,
    billed: async (count) => {
      let rows: Record<string, unknown>[] = [];
      await eventually(async () => {
        const response = await fetch(`${gateway.url}/usage?group_by=request&limit=100`, {
          headers: { authorization },
        });
        rows = ((await response.json()) as { data: Record<string, unknown>[] }).data;
        return rows.length >= count;
      }, `${count} requests are in the ledger`);
      return rows;
    },
    metric: async (name) => {
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    },
    logged: (message) => gateway.logLines.filter(({ msg }) => msg === message),
    post: (path, body) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
};

/** A good answer, whole or streamed as the request wants it: 10 tokens read, of which 4 were cached, and 4 written. */
export const answer =
  (words: string): Script =>
  (request) => {
    const { stream } = JSON.parse(request.body) as { stream?: boolean };
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 4 },
    };
    if (stream !== true) {
      request.json(200, completion({ content: words }, { usage }));
      return;
    }
    request.streamHead();
    request.chunk(
      event({ id: 'c', choices: [{ index: 0, delta: { content: words }, finish_reason: null }] }) +
        event({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
        event({ id: 'c', choices: [], usage }) +
        'data: [DONE]\n\n',
    );
    request.end();
  };
