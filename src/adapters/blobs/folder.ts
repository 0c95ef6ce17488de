/** The Blobs port on a folder: one file per blob, links signed by this installation. */
import { access, constants, mkdir, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { BlobOptions, Blobs, ByteRange } from '../../ports/blobs.ts';
import type { DiskReserve } from '../disk-reserve.ts';
import { checkedName } from './blob-names.ts';
import { type PendingBlob, putBlob, writeBlob } from './blob-writer.ts';
import { fileSource } from './file-source.ts';
import { folderLayout } from './folder-layout.ts';
import { sweepFolder } from './folder-sweep.ts';
import { beginFile } from './pending-file.ts';
import { openStored, type StoredFile } from './stored-file.ts';
import { startSweeper } from './sweeper.ts';
import { missing, orUnavailable } from './unavailable.ts';

interface FolderOptions {
  readonly folder: string;
  /** Absent: the disk may be filled. */
  readonly reserve?: Pick<DiskReserve, 'ensure'>;
  readonly log: Logger;
  /** The address of a blob until a time in Unix seconds. */
  readonly link: (name: string, expires: number) => Promise<string>;
}

export const openFolderBlobs = async ({ folder, reserve, log, link }: FolderOptions): Promise<Blobs> => {
  const layout = folderLayout(folder);
  for (const path of [layout.files, layout.writing, layout.expiring]) await mkdir(path, { recursive: true });
  const sweeper = startSweeper((now) => sweepFolder(layout, now), log);

  const begin = (name: string, options: BlobOptions): PendingBlob => {
    const pending = beginFile(layout, name, options);
    const append = async (pieces: readonly Uint8Array[]): Promise<void> => {
      await reserve?.ensure(pieces.reduce((sum, piece) => sum + piece.length, 0));
      await pending.append(pieces);
    };
    return { ...pending, append };
  };

  /** Open and in force, or undefined. */
  const openCurrent = async (name: string): Promise<StoredFile | undefined> => {
    const stored = await openStored(layout.file(name));
    if ((stored?.info.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()) return stored;
    await stored?.file.close();
    return undefined;
  };

  const openRange = async (name: string, range: ByteRange | undefined) => {
    const stored = await openCurrent(name);
    if (stored === undefined) throw missing();
    const { file, info } = stored;
    return { file, range: { start: range?.start ?? 0, end: Math.min(range?.end ?? info.size, info.size) } };
  };

  return {
    write: writeBlob(begin),
    put: putBlob(begin),
    stat: (name) =>
      orUnavailable(async () => {
        const stored = await openCurrent(name);
        await stored?.file.close();
        return stored && { mediaType: stored.info.mediaType, size: stored.info.size };
      }),
    read: (name, backpressure, range) =>
      fileSource(() => orUnavailable(() => openRange(name, range)), backpressure),
    remove: (name) => orUnavailable(() => rm(layout.file(name), { force: true })),
    link: async (name, seconds) => link(checkedName(name), Math.floor(Date.now() / 1000) + seconds),
    check: async () => {
      try {
        await access(layout.writing, constants.W_OK);
      } catch (error) {
        throw new Error(`The folder of files, ${folder}, cannot be written to`, { cause: error });
      }
    },
    close: () => sweeper.close(),
  };
};
