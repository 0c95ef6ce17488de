/** Starts a Python HTTP server for an embedded engine that can be killed, restarted and stopped. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Disturbed, dataFolder, disturbed, freePort, launch } from './child.ts';

export interface FrontService extends Disturbed {
  readonly url: string;
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
  const folder = await dataFolder(name);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [join(import.meta.dirname, script), String(port), join(folder, 'data')];
  const server = await disturbed(() => launch(python, args, () => answers(url + ping)));
  return {
    url,
    ...server,
    stop: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Somebody else's: it is not ended, whatever happens. */
export const foreign = (url: string): FrontService => {
  const refuse = () => {
    throw new Error('This service is not ours to disturb.');
  };
  return { url, kill: refuse, revive: refuse, freeze: refuse, thaw: refuse, stop: async () => undefined };
};

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
};
