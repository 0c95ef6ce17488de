/**
 * What is known of a file, kept behind its bytes: `bytes, JSON, length of the JSON (4 bytes), "SLB1"`. One file, so that
 * bytes and facts appear, are replaced and go together; behind and not in front, so that players and viewers open it.
 */
import type { FileHandle } from 'node:fs/promises';
import type { BlobInfo, BlobOptions } from '../../ports/blobs.ts';

export interface StoredFacts extends BlobInfo {
  readonly expiresAt?: number;
}

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
export const readTrailer = async (file: FileHandle): Promise<StoredFacts | undefined> => {
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
