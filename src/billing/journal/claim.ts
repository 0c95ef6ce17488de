/** Claims journal folders: one for this process, and those of processes that died. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type FolderLock, lockFolder } from '../../adapters/folder-lock.ts';

export interface ClaimedFolder {
  readonly path: string;
  readonly lock: FolderLock;
}

/** A folder of its own for this process; it gets its name once it is locked, so that nobody takes it for abandoned. */
export const claimFolder = (parent: string): ClaimedFolder => {
  const name = `${Date.now()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const unnamed = join(parent, `.${name}`);
  mkdirSync(unnamed);
  const lock = lockFolder(unnamed);
  if (lock === undefined) throw new Error(`Another process uses the new journal folder ${unnamed}.`);
  const path = join(parent, name);
  renameSync(unnamed, path);
  return { path, lock };
};

/** Every journal that nobody writes or ships any more; those in `held` are ours already. */
export const claimAbandoned = (parent: string, held: ReadonlySet<string>): readonly ClaimedFolder[] =>
  journalFolders(parent).flatMap((path) => {
    if (held.has(path)) return [];
    const lock = lockFolder(path);
    return lock === undefined ? [] : [{ path, lock }];
  });

export const journalFolders = (parent: string): readonly string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => join(parent, entry.name));
