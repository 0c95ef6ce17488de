/**
 * Kills what a spawner left behind that was killed itself, found by the name of its folder.
 *
 * A process that it was just forking is known to nobody else, and would run without a supervisor.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Repeated until none was found so often: one that is executing a program is not seen at that moment. */
const quietLooks = 3;
const mostLooks = 100;
const pauseMs = 50;

export const killOrphans = async (folder: string): Promise<void> => {
  // Other systems have no list to look through: there a process ends with its pipes, or at its limits.
  if (process.platform !== 'linux') return;
  for (let look = 0, quiet = 0; look < mostLooks && quiet < quietLooks; look++) {
    const orphans = await orphansOf(folder);
    for (const id of orphans) kill(id);
    quiet = orphans.length === 0 ? quiet + 1 : 0;
    await delay(pauseMs);
  }
};

const orphansOf = async (folder: string): Promise<readonly number[]> => {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const ours = await Promise.all(ids.map((id) => names(id, folder)));
  return ids.filter((_, at) => ours[at]).map(Number);
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
