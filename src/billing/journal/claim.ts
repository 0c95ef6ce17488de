/** Claims journal folders: one for this process, and those of processes that died. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';

interface FolderLock {
  release(): void;
}

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

/**
 * Takes the lock, or gives undefined when another process has it, or has just removed the folder. SQLite's file lock
 * does the work: the system drops it when its process dies, which a file with a process id in it could not tell from
 * a reused id.
 */
const lockFolder = (folder: string): FolderLock | undefined => {
  const file = join(folder, 'lock.db');
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    // Folders are removed under their lock: whoever gets it afterwards holds a file that has no name any more.
    if (existsSync(file)) return { release: () => database?.close() };
    database.close();
    return undefined;
  } catch (error) {
    database?.close();
    if (!existsSync(folder) || codeOf(error).startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
