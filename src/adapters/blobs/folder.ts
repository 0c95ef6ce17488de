/** A folder in; the Blobs port on it out: one file a blob, links signed by this installation. */
import { access, constants, mkdir, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { ApiError, fail } from '../../errors.ts';
import type { Blobs } from '../../ports/blobs.ts';
import { fileSource } from './file-source.ts';
import { FileWriter } from './file-writer.ts';
import { FolderLayout } from './folder-layout.ts';
import { sweepFolder } from './folder-sweep.ts';
import { PendingFile } from './pending-file.ts';
import { openStored, type StoredFile } from './stored-file.ts';
import { Sweeper } from './sweeper.ts';

export interface FolderOptions {
  readonly folder: string;
  readonly log: Logger;
  /** The address of a blob until a time in Unix seconds. */
  readonly link: (name: string, expires: number) => Promise<string>;
}

export const openFolderBlobs = async ({ folder, log, link }: FolderOptions): Promise<Blobs> => {
  const layout = new FolderLayout(folder);
  for (const path of [layout.files, layout.writing, layout.expiring]) await mkdir(path, { recursive: true });
  const sweeper = new Sweeper((now) => sweepFolder(layout, now), log);

  /** Open and in force, or undefined. */
  const openCurrent = async (name: string): Promise<StoredFile | undefined> => {
    const stored = await openStored(layout.file(name));
    if ((stored?.info.expiresAt ?? Number.POSITIVE_INFINITY) > Date.now()) return stored;
    await stored?.file.close();
    return undefined;
  };

  return {
    write: (name, bytes, { demand, ...options }) =>
      new Observable((subscriber) => {
        let sourceFailed = false;
        const writer = new FileWriter(new PendingFile(layout, name, options), demand, {
          next: (size) => subscriber.next({ mediaType: options.mediaType, size }),
          error: (thrown) => subscriber.error(sourceFailed ? thrown : asUnavailable(thrown)),
          complete: () => subscriber.complete(),
        });
        const source = bytes.subscribe({
          next: (piece) => writer.next(piece),
          error: (thrown) => {
            sourceFailed = true;
            writer.error(thrown);
          },
          complete: () => writer.complete(),
        });
        return () => {
          source.unsubscribe();
          writer.abandon();
        };
      }),
    put: async (name, bytes, options) => {
      const file = new PendingFile(layout, name, options);
      try {
        await file.append([bytes]);
        await file.publish();
      } catch (error) {
        await file.discard();
        throw asUnavailable(error);
      }
    },
    stat: (name) =>
      orUnavailable(async () => {
        const stored = await openCurrent(name);
        await stored?.file.close();
        return stored && { mediaType: stored.info.mediaType, size: stored.info.size };
      }),
    read: (name, demand, range) =>
      fileSource(
        () =>
          orUnavailable(async () => {
            const stored = await openCurrent(name);
            if (stored === undefined) throw fail('not_found', 'There is no such file');
            const { size } = stored.info;
            return {
              file: stored.file,
              range: { start: range?.start ?? 0, end: Math.min(range?.end ?? size, size) },
            };
          }),
        demand,
      ),
    remove: (name) => orUnavailable(() => rm(layout.file(name), { force: true })),
    link: (name, seconds) => {
      layout.file(name);
      return link(name, Math.floor(Date.now() / 1000) + seconds);
    },
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

const asUnavailable = (thrown: unknown): ApiError =>
  thrown instanceof ApiError
    ? thrown
    : fail('unavailable', 'The store of files cannot answer now', { cause: thrown });

const orUnavailable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw asUnavailable(error);
  }
};
