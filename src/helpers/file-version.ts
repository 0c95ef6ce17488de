/** Tells whether a file changed between two looks at its path. */
import { statSync } from 'node:fs';

/** Differs after every write, replacement and removal. Never throws: reading the file says what is wrong with it. */
export const fileVersion = (path: string): string => {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
};
