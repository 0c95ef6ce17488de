/** Paths in the folder: `files/<name>`, `writing/<random>`, `expiring/<time>/<name>`. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkedName, segmentOf } from './blob-names.ts';

export const folderLayout = (folder: string) => {
  const [files, writing, expiring] = [
    join(folder, 'files'),
    join(folder, 'writing'),
    join(folder, 'expiring'),
  ];
  return {
    files,
    writing,
    expiring,
    file: (name: string): string => join(files, checkedName(name)),
    temporary: (): string => join(writing, randomBytes(16).toString('hex')),
    markerFolder: (expiresAt: number): string => join(expiring, segmentOf(expiresAt)),
  };
};

export type FolderLayout = ReturnType<typeof folderLayout>;

export const markerOf = (name: string): string => name.replaceAll('/', '+');
export const nameOf = (marker: string): string => marker.replaceAll('+', '/');
