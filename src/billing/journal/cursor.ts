/** Stores how far a journal has been shipped; survives crashes. */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Cursor, start } from './segments.ts';

const pathOf = (folder: string): string => join(folder, 'cursor.json');

/** Always as long, so that it is written over what was there: replacing a file costs the file system far more. */
const width = 64;

export const readCursor = (folder: string): Cursor => {
  try {
    const { segment, offset } = JSON.parse(readFileSync(pathOf(folder), 'utf8')) as Cursor;
    return { segment, offset };
  } catch (error) {
    // No cursor, or one torn by a power cut: shipping starts over, and repeats are counted once.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return start;
    throw error;
  }
};

export const openCursorFile = (folder: string) => {
  let file: number | undefined;
  return {
    write(cursor: Cursor): void {
      file ??= openSync(pathOf(folder), constants.O_RDWR | constants.O_CREAT, 0o644);
      writeSync(file, `${JSON.stringify(cursor).padEnd(width - 1)}\n`, 0);
    },
    close(): void {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};
