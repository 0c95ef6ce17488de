/** Starts the built gateway as a user would: embedded defaults, a free port, the simulator or a given configuration. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, freePort, launch } from '../services/child.ts';

export interface Gateway {
  readonly origin: string;
  readonly key: string;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

export interface GatewaySettings {
  /** Text of its `sluice.yaml`. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const startBuiltGateway = async ({ config, env: more }: GatewaySettings = {}): Promise<Gateway> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'));
  const origin = `http://127.0.0.1:${await freePort()}`;
  const key = `sk-clients-${randomBytes(18).toString('hex')}`;
  const responds = () =>
    fetch(`${origin}/v1/health`, { headers: { authorization: `Bearer ${key}` } }).then(
      ({ ok }) => ok,
      () => false,
    );
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    HOST: '127.0.0.1',
    PORT: new URL(origin).port,
    SLUICE_ADMIN_PORT: '0',
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_BOOTSTRAP_KEY: key,
    LOG_LEVEL: 'error',
    ...(config === undefined ? {} : { SLUICE_CONFIG: join(folder, 'sluice.yaml') }),
    ...more,
  };
  if (config !== undefined) writeFileSync(join(folder, 'sluice.yaml'), config);
  const child = await launch(process.execPath, ['--enable-source-maps', program, 'serve'], responds, env);
  return {
    origin,
    key,
    async stop() {
      await end(child, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
