/** Work that needs a seekable file in; its result out: the folder is ours alone, and gone afterwards whatever happened. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Inside another one, which is removed even when this process is killed. */
export const inPrivateFolder = async <T>(
  parent: string,
  work: (folder: string) => Promise<T>,
): Promise<T> => {
  // Made with mode 0700.
  const folder = await mkdtemp(join(parent, 'run-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
