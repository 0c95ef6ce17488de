/** Starts what the routing bench compares: the gateway with each policy, and other routers. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Installable, install, installedIn } from '../peers/install.ts';
import { eventually, freePort, start, stop, wordsOf } from '../processes.ts';

export interface RunningSubject {
  readonly port: number;
  readonly key: string;
  stop(): Promise<void>;
}

export interface RoutingSubject {
  readonly name: string;
  /** Of another project. */
  readonly version?: string;
  /** Why it cannot run; undefined when it can. */
  missing(): Promise<string | undefined>;
  start(engines: readonly number[]): Promise<RunningSubject>;
}

const root = path.join(import.meta.dirname, '..', '..');
const warmUps = 30;
const key = 'sk-bench-0123456789abcdef0123456789abcdef';

const sluice = (balance: string): RoutingSubject => ({
  name: `Sluice, ${balance}`,
  missing: async () => undefined,
  start: async (engines) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-routing-'));
    const config = path.join(folder, 'sluice.json');
    writeFileSync(config, JSON.stringify(catalog(balance, engines)));
    const port = await freePort();
    const running = await launch(['node', path.join(root, 'bin', 'sluice.mjs'), 'serve'], port, {
      PORT: String(port),
      HOST: '127.0.0.1',
      SLUICE_CONFIG: config,
      SLUICE_DATA: path.join(folder, 'data'),
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
    });
    return {
      ...running,
      stop: async () => {
        await running.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
});

const catalog = (balance: string, engines: readonly number[]) => ({
  engines: {
    pool: { wire: 'openai', balance, replicas: engines.map((port) => `http://127.0.0.1:${port}/v1`) },
  },
  models: {
    bench: {
      engine: 'pool',
      context_length: 131_072,
      limits: { concurrency: 10_000, requests_per_minute: 1_000_000 },
    },
  },
});

const peerRows = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '..', 'peers', 'peers.json'), 'utf8'),
) as readonly Installable[];

/** In the version that the benchmark of gateways measures, with the router's own settings for this policy. */
const peer = (name: string, args: readonly string[]): RoutingSubject => {
  const row = peerRows.find((each) => each.name === name) ?? { name };
  const [version] = Object.values(row.install?.packages ?? {});
  return {
    name: `${name}, cache_aware`,
    ...(version !== undefined && { version }),
    missing: () => install(row),
    start: async (engines) => {
      const [port, spare] = [await freePort(), await freePort()];
      const urls = engines.map((each) => `http://127.0.0.1:${each}`);
      return launch(
        [
          path.join(installedIn(row), 'bin', name),
          ...args,
          '--host=127.0.0.1',
          `--port=${port}`,
          '--policy=cache_aware',
          '--prometheus-host=127.0.0.1',
          `--prometheus-port=${spare}`,
          '--worker-startup-check-interval=1',
          '--log-level=error',
          '--worker-urls',
          ...urls,
        ],
        port,
        {},
      );
    },
  };
};

export const subjects: readonly RoutingSubject[] = [
  sluice('least-busy'),
  sluice('prefix'),
  peer('vllm-router', []),
  peer('smg', [
    'launch',
    '--history-backend=none',
    '--disable-tokenizer-autoload',
    '--max-concurrent-requests=0',
  ]),
];

const launch = async (
  command: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>>,
): Promise<RunningSubject> => {
  const child = start({ command, folder: root, environment });
  const isReady = await eventually(async () => child.exitCode === null && (await responds(port)), 60);
  if (!isReady) {
    const words = wordsOf(child);
    await stop(child);
    throw new Error(`${command[0]} does not respond with 200: ${words}`);
  }
  // Code is compiled by the first requests; short prompts leave nothing behind in a router's memory.
  for (let round = 0; round < warmUps; round++)
    await Promise.all(Array.from({ length: 10 }, () => responds(port)));
  return { port, key, stop: () => stop(child) };
};

const responds = async (port: number): Promise<boolean> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'bench',
        messages: [{ role: 'user', content: 'Hi' }],
        max_tokens: 1,
        stream: true,
      }),
    });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
};
