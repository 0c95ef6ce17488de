/** Lists and inflates the entries of a ZIP archive, within limits. */
import { inflateRawSync } from 'node:zlib';

interface ZipEntry {
  readonly method: number;
  readonly encrypted: boolean;
  readonly packedLength: number;
  readonly offset: number;
}

const signature = { end: 0x06054b50, entry: 0x02014b50, local: 0x04034b50 } as const;
const endLength = 22;
const longestComment = 0xffff;

/** The entries by name. Throws when the archive is damaged. */
export const zipEntries = (bytes: Buffer): ReadonlyMap<string, ZipEntry> => {
  const end = endOfDirectory(bytes);
  const entries = new Map<string, ZipEntry>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    if (bytes.readUInt32LE(at) !== signature.entry) throw new Error('Bad directory entry');
    const nameLength = bytes.readUInt16LE(at + 28);
    entries.set(bytes.toString('utf8', at + 46, at + 46 + nameLength), {
      encrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      method: bytes.readUInt16LE(at + 10),
      packedLength: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
};

/** It stands last, before a comment that may look like anything. */
const endOfDirectory = (bytes: Buffer): number => {
  const first = Math.max(0, bytes.length - endLength - longestComment);
  for (let at = bytes.length - endLength; at >= first; at--) {
    if (bytes.readUInt32LE(at) === signature.end) return at;
  }
  throw new Error('No directory');
};

/**
 * Undefined when it is longer than the bound; what the archive says of its length is not believed. Throws when it is
 * damaged, encrypted, or of a kind that no office program writes.
 */
export const readEntry = (bytes: Buffer, entry: ZipEntry, maxBytes: number): Buffer | undefined => {
  if (entry.encrypted) throw new Error('The archive is encrypted');
  if (bytes.readUInt32LE(entry.offset) !== signature.local) throw new Error('Bad local header');
  const start =
    entry.offset + 30 + bytes.readUInt16LE(entry.offset + 26) + bytes.readUInt16LE(entry.offset + 28);
  const packed = bytes.subarray(start, start + entry.packedLength);
  if (packed.length < entry.packedLength) throw new Error('The archive ends early');
  if (entry.method === 0) return packed.length > maxBytes ? undefined : packed;
  if (entry.method !== 8) throw new Error(`Compression method ${entry.method} is not known`);
  if (maxBytes <= 0) return undefined;
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (reason) {
    if (reason instanceof RangeError) return undefined;
    throw reason;
  }
};
