/** A blob as a file: its bytes, and behind them what is known of it. */
import { type FileHandle, open } from 'node:fs/promises';
import type { BlobInfo, BlobOptions } from '../../ports/blobs.ts';

interface StoredFacts extends BlobInfo {
  readonly expiresAt?: number;
}

/**
 * A trailer behind the bytes: JSON, length of the JSON (4 bytes), "SLB1". In one file, bytes and facts appear, change and
 * disappear together; behind the bytes, so that players and viewers can open the file.
 */
const mark = Buffer.from('SLB1');
const longest = 1024;

export const trailerOf = ({ mediaType, expiresAt }: BlobOptions): Buffer => {
  const json = Buffer.from(JSON.stringify({ mediaType, expiresAt }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  const trailer = Buffer.concat([json, length, mark]);
  if (trailer.length > longest) throw new Error('The media type of a blob is too long');
  return trailer;
};

/** Undefined when the file is not whole. */
const readTrailer = async (file: FileHandle): Promise<StoredFacts | undefined> => {
  const { size } = await file.stat();
  const start = Math.max(0, size - longest);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(longest), 0, longest, start);
  const tail = buffer.subarray(0, bytesRead);
  const end = tail.length - mark.length - 4;
  if (end < 0 || !tail.subarray(end + 4).equals(mark)) return undefined;
  const length = tail.readUInt32BE(end);
  if (length > end) return undefined;
  const { mediaType, expiresAt } = JSON.parse(tail.toString('utf8', end - length, end)) as BlobOptions;
  const bytes = start + end - length;
  return { mediaType, size: bytes, ...(expiresAt === undefined ? {} : { expiresAt }) };
};

export interface StoredFile {
  readonly file: FileHandle;
  readonly info: StoredFacts;
}

/** Undefined when there is none. */
export const openStored = async (path: string): Promise<StoredFile | undefined> => {
  const file = await unlessMissing(open(path, 'r'));
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

/** No such file, or a file where a folder of its name would be. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Undefined when what it works on is not there. */
export const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
