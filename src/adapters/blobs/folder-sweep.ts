/** Removes expired blobs from the folder; finds them by their markers. */
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isBlobName, isDue } from './blob-names.ts';
import { type FolderLayout, nameOf } from './folder-layout.ts';
import { openStored, unlessMissing } from './stored-file.ts';

/** A file that nobody has written to for a day has lost its writer. */
const staleAfter = 24 * 3_600_000;

/** Several processes may sweep the same folder: what is gone already is fine. */
export const sweepFolder = async (layout: FolderLayout, now: number): Promise<number> => {
  let removed = 0;
  for (const folder of await readdir(layout.expiring)) {
    if (!isDue(folder, now)) continue;
    const path = join(layout.expiring, folder);
    for (const marker of (await unlessMissing(readdir(path))) ?? []) {
      if (await removeExpired(layout, nameOf(marker), now)) removed += 1;
      await rm(join(path, marker), { force: true });
    }
    await unlessMissing(rmdir(path));
  }
  await removeStale(layout, now);
  return removed;
};

/** Not when it was replaced by one that lives longer. */
const removeExpired = async (layout: FolderLayout, name: string, now: number): Promise<boolean> => {
  if (!isBlobName(name)) return false;
  const path = layout.file(name);
  const stored = await openStored(path);
  if (stored === undefined) return false;
  await stored.file.close();
  if (stored.info.expiresAt === undefined || stored.info.expiresAt > now) return false;
  await rm(path, { force: true });
  return true;
};

const removeStale = async (layout: FolderLayout, now: number): Promise<void> => {
  for (const entry of await readdir(layout.writing)) {
    const path = join(layout.writing, entry);
    const changed = await unlessMissing(stat(path));
    if (changed !== undefined && changed.mtimeMs < now - staleAfter) await rm(path, { force: true });
  }
};
