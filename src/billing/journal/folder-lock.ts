/** A lock on a folder that ends with the process that holds it, however it ends, and is seen by every process on the machine. */
import { join } from 'node:path';
import Database from 'libsql';

export interface FolderLock {
  release(): void;
}

/**
 * Takes the lock, or gives undefined when another process has it. SQLite's file lock does the work: the system
 * drops it when its process dies, which a file with a process id in it could not tell from a reused id.
 */
export const lockFolder = (folder: string): FolderLock | undefined => {
  const database = new Database(join(folder, 'lock.db'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
  return { release: () => database.close() };
};
