/**
 * Kills what a spawner left behind that was killed itself, found by the name of its folder.
 *
 * A process that it was just forking is known to nobody else, and would run without a supervisor.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Repeated until none is found: one that is forking has a child after that. */
const mostLooks = 100;
const pauseMs = 10;

export const killOrphans = async (folder: string): Promise<void> => {
  // Other systems have no list to look through: there a process ends with its pipes, or at its limits.
  if (process.platform !== 'linux') return;
  for (let look = 0; look < mostLooks; look++) {
    const orphans = await orphansOf(folder);
    if (orphans.length === 0) return;
    for (const id of orphans) kill(id);
    await delay(pauseMs);
  }
};

const orphansOf = async (folder: string): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const name of await readdir('/proc'))
    if (/^\d+$/.test(name) && (await names(name, folder))) found.push(Number(name));
  return found;
};

/** In the environment of a program, or still in the arguments of the spawner that it was forked from. */
const names = async (id: string, folder: string): Promise<boolean> => {
  try {
    const [environment, words] = await Promise.all([
      readFile(`/proc/${id}/environ`, 'latin1'),
      readFile(`/proc/${id}/cmdline`, 'latin1'),
    ]);
    return environment.includes(`TMPDIR=${folder}\0`) || words.includes(`\0${folder}\0`);
  } catch {
    // It has exited, or is somebody else's.
    return false;
  }
};

const kill = (id: number): void => {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has exited.
  }
};
