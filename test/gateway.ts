/** Starts a whole gateway in the test process, with its own port, folder and key. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../src/config.ts';
import { type Gateway, startGateway as startRealGateway } from '../src/main.ts';
import type { Ports } from '../src/ports/ports.ts';
import { servers } from './http/servers.ts';

export interface GatewayOptions {
  /** Text of its `sluice.yaml`; without it the default catalog on the simulator. */
  readonly catalog?: string;
  /** Settings as the environment would give them, over those of a test. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface TestGateway {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  /** The same without `/v1`, for clients that add it. */
  readonly root: string;
  readonly key: string;
  /** Metrics and probes, where `SLUICE_ADMIN_PORT` was given. */
  readonly adminUrl: string | undefined;
  /** Its own: data and configuration; gone after `stop`. */
  readonly folder: string;
  readonly configFile: string;
  readonly ports: Ports;
  readonly allowances: Gateway['allowances'];
  readonly logLines: readonly LogLine[];
  reload(): void;
  stop(): Promise<void>;
}

/** Chosen by name where uWebSockets.js does not load, so no warning is logged: suites may count warnings. */
const edge: Readonly<Record<string, string>> = servers[0].skip === false ? {} : { SLUICE_EDGE: 'node' };

const key = 'sk-test-0123456789abcdef0123456789abcdef';

export const startGateway = async ({ catalog, env = {} }: GatewayOptions = {}): Promise<TestGateway> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  const configFile = join(folder, 'sluice.yaml');
  if (catalog !== undefined) writeFileSync(configFile, catalog);
  const logLines: LogLine[] = [];
  const log = pino(
    { level: env.LOG_LEVEL ?? 'info' },
    { write: (line: string) => logLines.push(JSON.parse(line)) },
  );
  const gateway = await startRealGateway(
    {
      ...loadConfig({
        PORT: '0',
        SLUICE_DATA: join(folder, 'data'),
        SLUICE_BOOTSTRAP_KEY: key,
        SLUICE_DRAIN_SECONDS: '2',
        ...edge,
        ...(catalog === undefined ? {} : { SLUICE_CONFIG: configFile }),
        ...env,
      }),
      // Keys of engines are given by the suite, or set in its process.
      env: { ...process.env, ...env },
    },
    log,
  );
  return {
    url: gateway.url,
    root: gateway.url.replace(/\/v1$/, ''),
    key: env.SLUICE_BOOTSTRAP_KEY ?? key,
    adminUrl: gateway.adminUrl,
    folder,
    configFile,
    ports: gateway.ports,
    allowances: gateway.allowances,
    logLines,
    reload: () => {
      gateway.reload();
    },
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
