/** Locks a folder across processes; the lock ends with the process that holds it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';

export interface FolderLock {
  release(): void;
}

/**
 * Takes the lock, or gives undefined when another process has it, or has just removed the folder. SQLite's file lock
 * does the work: the system drops it when its process dies, which a file with a process id in it could not tell from
 * a reused id.
 */
export const lockFolder = (folder: string): FolderLock | undefined => {
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
