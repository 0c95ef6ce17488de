/** Several engines as replicas behind a whole gateway: conversations through its socket, and which replica got them. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startGateway, type TestGateway } from '../gateway.ts';
import { type Script, type ScriptedEngine, startScriptedEngine } from './scripted-engine.ts';

export interface ReplicasBehind {
  readonly gateway: TestGateway;
  readonly engines: readonly ScriptedEngine[];
  /** Throws where the response is no 200. */
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<void>;
  /** A long prompt and a session of this name. */
  converse(name: string): Promise<void>;
  /** The replica that gets it. */
  homeOf(name: string): Promise<ScriptedEngine>;
  /** As the operator does it: by another `sluice.yaml`, or by another list in its file. */
  setReplicas(engines: readonly ScriptedEngine[]): void;
}

export interface BehindOptions {
  /** Further fields of the engine's row, as YAML. */
  readonly row?: string;
  /** Started for this gateway where there are none. */
  readonly engines?: readonly ScriptedEngine[];
  readonly weights?: readonly number[];
  /** A file that lists the replicas, instead of the row. */
  readonly listed?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export const sessionHeader = 'x-session-id';

export const startReplicas = async (
  t: Test,
  count = 4,
  script: Script = answerYes,
): Promise<ScriptedEngine[]> => {
  const engines = await Promise.all(Array.from({ length: count }, () => startScriptedEngine(script)));
  t.teardown(async () => void (await Promise.all(engines.map((engine) => engine.close()))));
  return engines;
};

export const startBehind = async (t: Test, options: BehindOptions = {}): Promise<ReplicasBehind> => {
  const { row = '', weights, listed = false, env = {} } = options;
  const engines = options.engines ?? (await startReplicas(t));
  const file = listed ? join(t.testdir(), 'replicas.json') : '';
  const listOf = (some: readonly ScriptedEngine[]): string =>
    JSON.stringify(some.map(({ url }, index) => ({ url, weight: weights?.[index] ?? 1 })));
  const catalogOf = (some: readonly ScriptedEngine[]): string => `
engines:
  pool: { wire: openai, replicas: ${listed ? `'file:${file}'` : listOf(some)}${row === '' ? '' : `, ${row}`} }
models:
  far/chat: { engine: pool, served_as: chat, context_length: 131072, tokenizer: simulator }
`;
  if (listed) writeFileSync(file, listOf(engines));
  const gateway = await startGateway({ env, catalog: catalogOf(engines) });
  t.teardown(() => gateway.stop());
  const post: ReplicasBehind['post'] = async (path, body, headers = {}) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
      body: JSON.stringify({ model: 'far/chat', stream: true, ...body }),
    });
    const said = await response.text();
    if (response.status !== 200 || said.includes('"error":{')) throw new Error(`${response.status} ${said}`);
  };
  const converse = (name: string): Promise<void> =>
    post(
      '/chat/completions',
      { messages: [{ role: 'user', content: longText(name, 3000) }] },
      { [sessionHeader]: name },
    );
  return {
    gateway,
    engines,
    post,
    converse,
    homeOf: async (name) => {
      const before = visits(engines);
      await converse(name);
      const home = engines[visits(engines, before).indexOf(1)];
      if (home === undefined) throw new Error(`nobody got ${name}`);
      return home;
    },
    setReplicas: (some) => {
      const target = listed ? file : gateway.configFile;
      writeFileSync(`${target}.new`, listed ? listOf(some) : catalogOf(some));
      renameSync(`${target}.new`, target);
      if (!listed) gateway.reload();
    },
  };
};

/** Which engines have received how many requests since. */
export const visits = (engines: readonly ScriptedEngine[], before: readonly number[] = []): number[] =>
  engines.map((engine, index) => engine.requests.length - (before[index] ?? 0));

/** Differs from that of any other name in its first words. */
export const longText = (name: string, length: number): string =>
  `${name} spoke. `.repeat(length).slice(0, length);

const answerYes: Script = (request) => request.answer('Yes.');
