/** Starts a Python HTTP server for an embedded engine that can be killed, restarted and stopped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, launch } from './child.ts';

export interface FrontService {
  readonly url: string;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export interface Front {
  readonly name: string;
  readonly python: string;
  /** Beside this file; gets a port and a data folder. */
  readonly script: string;
  /** A path that answers when it is ready. */
  readonly ping: string;
}

export const startFront = async ({ name, python, script, ping }: Front): Promise<FrontService> => {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [join(import.meta.dirname, script), String(port), join(folder, 'data')];
  const launchFront = () => launch(python, args, () => answers(url + ping));
  let server = await launchFront();
  return {
    url,
    kill: () => end(server, 'SIGKILL'),
    revive: async () => {
      server = await launchFront();
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Somebody else's: it is not ended, whatever happens. */
export const foreign = (url: string): FrontService => {
  const refuse = () => Promise.reject(new Error('This service is not ours to end.'));
  return { url, kill: refuse, revive: refuse, stop: async () => undefined };
};

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
};
