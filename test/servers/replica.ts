/** Runs model server processes, each in a process group of its own, on free ports of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram, tail } from '../clients/processes.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../services/child.ts';
import type { ModelRole, ModelServer, Replica, Run, StartPlace } from './server.ts';

export interface RunningReplica extends Replica {
  /** All of its processes end at once, without a word to anyone. */
  kill(): Promise<void>;
  /** What it printed last. */
  said(): string;
}

/** Of what a server prints, what is kept. */
const outputLimit = 64 * 1024;

/** They look for models and send telemetry: nothing but this machine can be reached. */
export const offline = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  no_proxy: '127.0.0.1,localhost',
};

export const startReplica = async (
  server: ModelServer,
  models: readonly ModelRole[],
  base: Pick<StartPlace, 'installed' | 'toys' | 'folder' | 'key'>,
): Promise<RunningReplica> => {
  const port = await freePort();
  const folder = join(base.folder, String(port));
  mkdirSync(folder);
  const place: StartPlace = { ...base, folder, port, models, window: server.window };
  const { program, args, env = {} } = server.start(place);
  const environment = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', ...offline, ...env };
  const child = spawn(program, args, {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-outputLimit);
    });
  const group = child.pid ?? 0;
  const killGroup = () => {
    if (group === 0) return;
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  process.once('exit', killGroup);
  const kill = async () => {
    const ended = endOf(child);
    killGroup();
    await ended;
    process.off('exit', killGroup);
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await eventually(
      () => {
        if (child.exitCode !== null || child.signalCode !== null || group === 0)
          throw new Error(`it ended with ${child.exitCode ?? child.signalCode ?? 'no process'}`);
        return responds(`${origin}${server.readyPath}`, base.key);
      },
      `${server.name} is ready`,
      server.startSeconds,
    );
    const run: Run = async (program, args, more = {}) => {
      const output = await runProgram({
        program,
        args,
        env: { ...environment, ...more },
        cwd: folder,
        seconds: server.startSeconds,
      });
      if (output.code !== 0) throw new Error(`${program} ended with ${output.code}\n${tail(output)}`);
      return output;
    };
    await server.prepare?.(origin, place, run);
  } catch (cause) {
    await kill();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${server.name} did not start: ${reason}\n${said.slice(-3000)}`, { cause });
  }
  return { origin, key: base.key, group, kill, said: () => said };
};

const endOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
    else child.once('exit', () => resolve());
  });

const responds = (url: string, key: string): Promise<boolean> =>
  fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(5000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
