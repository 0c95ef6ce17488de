/** Installs a packed tarball in an empty folder and starts it there, as a user would. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../services/child.ts';

const [installMs, startMs, stopMs] = [600_000, 60_000, 30_000];

/** The version that the started gateway reports at `/health`. */
export const versionOfInstalled = async (tarball: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-installed-'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
      timeout: installMs,
    });
    return await startedVersion(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const startedVersion = async (folder: string): Promise<string> => {
  const [port, adminPort] = [await freePort(), await freePort()];
  const key = 'sk-release-0123456789abcdef0123456789abcdef';
  const child = spawn('npx', ['--no-install', 'sluice', 'serve'], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
      SLUICE_BOOTSTRAP_KEY: key,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    // npx starts the gateway as a child: a signal has to reach both.
    detached: true,
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`ended with ${code ?? signal}`));
  });
  try {
    const version = await Promise.race([
      healthOf(port, key),
      ended.then((text) => Promise.reject(new Error(text))),
    ]);
    return version;
  } finally {
    signal(child.pid, 'SIGTERM');
    const late = delay(stopMs, 'late', { ref: false });
    if ((await Promise.race([ended, late])) === 'late') signal(child.pid, 'SIGKILL');
  }
};

const signal = (pid: number | undefined, name: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const healthOf = async (port: number, key: string): Promise<string> => {
  const end = Date.now() + startMs;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/health`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch(() => undefined);
    if (response?.status === 200) return ((await response.json()) as { readonly version: string }).version;
    if (Date.now() > end) throw new Error(`no 200 of /health within ${startMs / 1000} s`);
    await delay(200);
  }
};
