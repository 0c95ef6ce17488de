/** A path in; the file there, open, and what is known of it out; undefined when there is none. */
import { type FileHandle, open } from 'node:fs/promises';
import { readTrailer, type StoredFacts } from './trailer.ts';

export interface StoredFile {
  readonly file: FileHandle;
  readonly info: StoredFacts;
}

export const openStored = async (path: string): Promise<StoredFile | undefined> => {
  const file = await openExisting(path);
  if (file === undefined) return undefined;
  try {
    const info = await readTrailer(file);
    if (info !== undefined) return { file, info };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
};

const openExisting = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/** No such file, or a file where a folder of its name would be. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
