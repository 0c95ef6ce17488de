/** The built pages on disk: what the build says of each file, and its bytes, read at its first request. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

/** Of `files.json`, which bin/build-console.mjs writes. */
export interface PageFile {
  readonly type: string;
  readonly hash: string;
  /** Bytes; an encoding that is not here does not exist. */
  readonly sizes: Readonly<Partial<Record<Encoding, number>>>;
}

export interface PageFiles {
  find(name: string): PageFile | undefined;
  read(name: string, encoding: Encoding): Promise<Buffer>;
}

/** Beside the compiled sources, or below them where they run from source. */
const folders = ['../../console/', '../../dist/console/'];

/** Undefined: the pages were not built. */
export const openFiles = (
  folder = folders
    .map((each) => new URL(each, import.meta.url))
    .find((each) => existsSync(new URL('files.json', each))),
): PageFiles | undefined => {
  if (folder === undefined) return undefined;
  const text = readFileSync(new URL('files.json', folder), 'utf8');
  const files = new Map(Object.entries(JSON.parse(text) as Record<string, PageFile>));
  const contents = new Map<string, Promise<Buffer>>();
  return {
    find: (name) => files.get(name),
    read: (name, encoding) => {
      const path = encoding === 'identity' ? name : `${name}.${encoding}`;
      const known = contents.get(path);
      if (known !== undefined) return known;
      const content = readFile(new URL(path, folder));
      contents.set(path, content);
      // The next request tries again.
      content.catch(() => contents.delete(path));
      return content;
    },
  };
};
