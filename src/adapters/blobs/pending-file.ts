/** Writes a blob to a temporary file, and renames it when it is complete. */
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobOptions } from '../../ports/blobs.ts';
import type { PendingBlob } from './blob-writer.ts';
import { type FolderLayout, markerOf } from './folder-layout.ts';
import { trailerOf } from './stored-file.ts';

export class PendingFile implements PendingBlob {
  readonly #layout: FolderLayout;
  readonly #name: string;
  readonly #path: string;
  readonly #options: BlobOptions;
  readonly #trailer: Buffer;
  readonly #temporary: string;
  #file: FileHandle | undefined;
  #published = false;

  constructor(layout: FolderLayout, name: string, options: BlobOptions) {
    this.#layout = layout;
    this.#name = name;
    this.#path = layout.file(name);
    this.#options = options;
    this.#trailer = trailerOf(options);
    this.#temporary = layout.temporary();
  }

  async append(pieces: readonly Uint8Array[]): Promise<void> {
    this.#file ??= await open(this.#temporary, 'wx', 0o600);
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { bytesWritten } = await this.#file.writev(pieces);
    // A disk that takes a part only says why at the next try.
    if (bytesWritten < length)
      await this.#file.appendFile(Buffer.concat(pieces, length).subarray(bytesWritten));
  }

  /** The name stands for all of the bytes, after a power cut too: the file is on the disk before its name is. */
  async publish(): Promise<void> {
    await this.append([this.#trailer]);
    await this.#file?.datasync();
    await this.#close();
    // First, since a marker without a file does no harm.
    if (this.#options.expiresAt !== undefined) await this.#mark(this.#options.expiresAt);
    const folder = dirname(this.#path);
    await mkdir(folder, { recursive: true });
    await rename(this.#temporary, this.#path);
    this.#published = true;
    await syncFolder(folder);
  }

  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#published ? this.#path : this.#temporary, { force: true });
  }

  async #mark(expiresAt: number): Promise<void> {
    const folder = this.#layout.markerFolder(expiresAt);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, markerOf(this.#name)), '');
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
