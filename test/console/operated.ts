/** A gateway of a scenario's own, with its console open, and engines that are processes of their own. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBuiltGateway } from '../clients/gateway.ts';
import { end, freePort, launch } from '../services/child.ts';
import type { Scene } from './scene.ts';

const adminToken = 'admin-token-of-one-scenario';

export interface Operated {
  /** Of the public port, without `/v1`. */
  readonly origin: string;
  readonly admin: string;
  readonly key: string;
  /** Writes its `sluice.yaml`. */
  configure(config: string): void;
  /** `POST` of the public API. */
  post(path: string, body: object, signal?: AbortSignal): Promise<Response>;
  /** JSON of the admin API; throws unless it succeeds. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
}

/** Ends with the scenario. */
export const withGateway = async (
  { page, allowOrigin }: Pick<Scene, 'page' | 'allowOrigin'>,
  config: string,
  run: (gateway: Operated) => Promise<void>,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-operated-'));
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, config);
  const port = await freePort();
  const admin = `http://127.0.0.1:${port}`;
  const gateway = await startBuiltGateway({
    env: { SLUICE_ADMIN_PORT: String(port), SLUICE_ADMIN_TOKEN: adminToken, SLUICE_CONFIG: file },
  });
  try {
    allowOrigin(gateway.origin);
    allowOrigin(admin);
    await page.goto(admin);
    await page.getByLabel('Admin token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await run({
      ...{ origin: gateway.origin, admin, key: gateway.key },
      configure: (text) => writeFileSync(file, text),
      post: (path, body, signal) =>
        fetch(`${gateway.origin}/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          ...(signal && { signal }),
        }),
      call: async <T>(method: string, path: string, body?: object) => {
        const response = await fetch(`${admin}/admin/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
        return (await response.json()) as T;
      },
    });
    // A page that is still open would see its feed break.
    await page.goto('about:blank');
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const program = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

/** The simulator as an engine in a process of its own, to be killed. */
export const startEngine = async (port: number): Promise<ChildProcess> =>
  launch(process.execPath, [program, 'simulate', '--port', String(port)], () =>
    fetch(`http://127.0.0.1:${port}/v1/models`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );

export const killEngine = (engine: ChildProcess): Promise<void> => end(engine, 'SIGKILL');
