/** Locks a folder for this process, by the file lock of a SQLite database. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { isBusy } from './sqlite.ts';

export interface FolderLock {
  release(): void;
}

/**
 * Undefined when another process holds the lock, or has just removed the folder. The operating system drops SQLite's
 * lock when its process dies; a file with a process id in it could not tell a dead process from a reused id.
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
    if (!existsSync(folder) || isBusy(error)) return undefined;
    throw error;
  }
};
