/** Gateways that share one Redis, an operator's view of them, and keys with a limit each. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import { buildIfStale, type SluiceProcess, startSluice } from '../chaos/stack.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../services/child.ts';
import { type RedisService, startRedis } from '../services/redis.ts';

export const model = 'exact/chat';
/** Of which the clients ask for far more, and each run stays within one window. */
export const limits = { requests: 300, tokens: 6000, nanodollars: 20_000_000 };

const token = 'exactness-operator-token';
const catalog = `models:
  ${model}:
    engine: simulator
    context_length: 131072
    pricing: { prompt: '0.000001', completion: '0.000004' }
    limits: { concurrency: 10000, requests_per_minute: 1000000 }
`;

export interface StackOptions {
  readonly gateways: number;
  /** While Redis is unavailable; undefined: there is none. */
  readonly fallback: 'refuse' | 'local' | undefined;
}

export interface Key {
  readonly id: string;
  readonly secret: string;
}

export interface Stack {
  /** Base addresses of the gateways. */
  readonly urls: readonly string[];
  readonly gateways: readonly SluiceProcess[];
  readonly redis: RedisService | undefined;
  readonly keys: Readonly<Record<keyof typeof limits, Key>>;
  /** Waits until nothing is reserved; in nanodollars, as budgets count them. */
  budgetUsed(): Promise<number>;
  /** What the ledger has of a key. */
  billed(
    key: Key,
  ): Promise<{ readonly requests: number; readonly tokens: number; readonly nanodollars: number }>;
  stop(): Promise<void>;
}

export const startStack = async ({ gateways, fallback }: StackOptions): Promise<Stack> => {
  buildIfStale();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-exactness-'));
  const data = join(folder, 'data');
  const config = join(folder, 'sluice.yaml');
  writeFileSync(config, catalog);
  const redis = fallback === undefined ? undefined : await startRedis({ own: true, persist: true });
  const started: SluiceProcess[] = [];
  const urls: string[] = [];
  let admin = '';
  for (let number = 1; number <= gateways; number++) {
    const [port, adminPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}/v1`;
    urls.push(url);
    const api = `http://127.0.0.1:${adminPort}/admin/v1`;
    admin ||= api;
    const environment = {
      PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
      SLUICE_ADMIN_TOKEN: token,
      SLUICE_CONFIG: config,
      SLUICE_DATA: data,
      LOG_LEVEL: 'error',
      ...(redis === undefined ? {} : { REDIS_URL: redis.url, SLUICE_ADMISSION_FALLBACK: fallback ?? '' }),
    };
    started.push(await startSluice(`gateway ${number}`, ['serve'], environment, () => isReady(api)));
  }
  const operate = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(admin + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const newKey = (name: string, own?: object): Promise<Key> =>
    operate('POST', '/keys', { subscription: 'default', name, ...(own && { limits: own }) });
  const keys = {
    requests: await newKey('requests', { requests_per_minute: limits.requests }),
    tokens: await newKey('tokens', { tokens_per_minute: limits.tokens }),
    nanodollars: await newKey('dollars'),
  };
  const { id: budget } = await operate<{ id: string }>('POST', '/budgets', {
    key: keys.nanodollars.id,
    amount: String(limits.nanodollars / 1e9),
    period: 'total',
  });
  const ledger = openLibsqlLedger(join(data, 'ledger.db'));
  return {
    urls,
    gateways: started,
    redis,
    keys,
    budgetUsed: async () => {
      const status = await eventually(
        async () => {
          const seen = await operate<{ used: string; reserved: string }>('GET', `/budgets/${budget}`);
          return seen.reserved === '0' && seen;
        },
        'nothing is reserved',
        150,
      );
      return nanodollars(status.used);
    },
    billed: async ({ id }) => {
      const rows = await ledger.totals({ from: 0, to: Number.MAX_SAFE_INTEGER }, ['key'], { limit: 100 });
      const row = rows.find(({ group }) => group[0] === id);
      return {
        requests: (row?.requests ?? 0) - (row?.failed ?? 0),
        tokens: (row?.prompt_tokens ?? 0) + (row?.completion_tokens ?? 0),
        nanodollars: nanodollars(row?.cost ?? '0'),
      };
    },
    stop: async () => {
      await ledger.close();
      for (const gateway of started) await gateway.stop();
      await redis?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const isReady = async (admin: string): Promise<boolean> => {
  try {
    return (await fetch(`${admin}/status`, { headers: { authorization: `Bearer ${token}` } })).ok;
  } catch {
    return false;
  }
};
