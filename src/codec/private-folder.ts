/** Work that needs a seekable file in; its result out: the folder is ours alone, and gone afterwards whatever happened. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const inPrivateFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  // Made with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-codec-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
