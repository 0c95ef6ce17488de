/** Tells whether a media file ends where its own header or frames say that it ends. */
import { open } from 'node:fs/promises';
import type { SpooledFile } from './spooled-file.ts';

/** `open`: the header leaves the length to whoever reads, as that of a stream does. */
type FileEnd = 'whole' | 'cut' | 'open';

/** Header and count may differ by the padding of encoders. */
const tolerance = 0.25;
/** ffmpeg had no header to read a length from. */
const isEstimated = /^\[\w+ @ \w+\] Estimating duration from bitrate/m;
/** Its reader of Matroska reports a file that ends in the middle of a block, but goes on. */
const endsEarly = /^\[matroska,webm @ \w+\] Read error$/m;

/** Of what ffmpeg has decoded without an error: those of most formats it has found by itself. */
export const fileEnd = async (
  container: string,
  file: SpooledFile,
  log: string,
  { counted, declared }: { readonly counted: number; readonly declared: number | undefined },
): Promise<FileEnd> => {
  if (container === 'wav') return wavEnd(file);
  if (container === 'ogg' && !(await hasWholePages(file))) return 'cut';
  if (endsEarly.test(log)) return 'cut';
  const isShort = declared !== undefined && counted < declared - tolerance && !isEstimated.test(log);
  return isShort ? 'cut' : 'whole';
};

/** Writers that cannot go back leave the largest number there is, signed or unsigned, or none. */
const largestSize = 0x7f00_0000;

const wavEnd = ({ head, size }: SpooledFile): FileEnd => {
  for (let at = 12; at + 8 <= head.length; ) {
    const length = head.readUInt32LE(at + 4);
    if (head.toString('latin1', at, at + 4) !== 'data') {
      at += 8 + length + (length % 2);
      continue;
    }
    if (length > largestSize || length === 0) return 'open';
    return at + 8 + length > size ? 'cut' : 'whole';
  }
  return 'open';
};

const longestPage = 65_307;
const pageHeader = 27;

const hasWholePages = async ({ path, size }: SpooledFile): Promise<boolean> => {
  const tail = await readTail(path, size, longestPage);
  const start = tail.lastIndexOf('OggS', undefined, 'latin1');
  if (start < 0 || start + pageHeader > tail.length) return false;
  const table = tail.subarray(start + pageHeader, start + pageHeader + tail.readUInt8(start + 26));
  return start + pageHeader + table.reduce((sum, length) => sum + length, table.length) <= tail.length;
};

const readTail = async (path: string, size: number, most: number): Promise<Buffer> => {
  const length = Math.min(size, most);
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer;
  } finally {
    await file.close();
  }
};
