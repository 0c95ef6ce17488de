/** Writes a blob to a temporary file, and renames it when it is complete. */
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobOptions } from '../../ports/blobs.ts';
import type { PendingBlob } from './blob-writer.ts';
import { type FolderLayout, markerOf } from './folder-layout.ts';
import { trailerOf } from './stored-file.ts';

export const beginFile = (layout: FolderLayout, name: string, options: BlobOptions): PendingBlob => {
  const path = layout.file(name);
  const trailer = trailerOf(options);
  const temporary = layout.temporary();
  let file: FileHandle | undefined;
  let published = false;

  const append = async (pieces: readonly Uint8Array[]): Promise<void> => {
    file ??= await open(temporary, 'wx', 0o600);
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { bytesWritten } = await file.writev(pieces);
    // A disk that takes a part only says why at the next try.
    if (bytesWritten < length) await file.appendFile(Buffer.concat(pieces, length).subarray(bytesWritten));
  };
  const mark = async (expiresAt: number): Promise<void> => {
    const folder = layout.markerFolder(expiresAt);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, markerOf(name)), '');
  };
  const close = async (): Promise<void> => {
    const open = file;
    file = undefined;
    await open?.close();
  };

  return {
    append,
    /** The name stands for all of the bytes, after a power cut too: the file is on the disk before its name is. */
    publish: async () => {
      await append([trailer]);
      await file?.datasync();
      await close();
      // First, since a marker without a file does no harm.
      if (options.expiresAt !== undefined) await mark(options.expiresAt);
      const folder = dirname(path);
      await mkdir(folder, { recursive: true });
      await rename(temporary, path);
      published = true;
      await syncFolder(folder);
    },
    discard: async () => {
      await close();
      await rm(published ? path : temporary, { force: true });
    },
  };
};

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
