/** Reads the next batch of events from a journal; damaged lines are returned separately. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Fragment } from './damage.ts';
import { decodeLine } from './line.ts';
import { type Cursor, listSegments, segmentBytes, segmentPath } from './segments.ts';

interface JournalBatch {
  /** JSON texts in the order they were written. */
  readonly events: readonly string[];
  readonly next: Cursor;
  /** Lines that did not read. */
  readonly damaged: readonly Fragment[];
}

const newline = 0x0a;

/**
 * Reads at most `maxBytes` from one segment, never past `end`. A segment read to its end yields the start of the next.
 * Undefined when nothing is left before `end`.
 */
export const readBatch = (
  folder: string,
  from: Cursor,
  end: Cursor,
  maxBytes = 1024 * 1024,
): JournalBatch | undefined => {
  const segment = listSegments(folder).find((number) => number >= from.segment);
  if (segment === undefined || segment > end.segment) return undefined;
  const offset = segment === from.segment ? from.offset : 0;
  const limit = segment === end.segment ? end.offset : segmentBytes(folder, segment);
  if (offset >= limit) {
    if (segment === end.segment) return undefined;
    return { events: [], next: { segment: segment + 1, offset: 0 }, damaged: [] };
  }
  const bytes = readRange(segmentPath(folder, segment), offset, Math.min(limit - offset, maxBytes));
  const events: string[] = [];
  const damaged: Fragment[] = [];
  let position = 0;
  for (;;) {
    const lineEnd = bytes.indexOf(newline, position);
    if (lineEnd < 0) break;
    const line = bytes.subarray(position, lineEnd);
    const json = decodeLine(line);
    if (json === undefined) damaged.push({ segment, offset: offset + position, bytes: Buffer.from(line) });
    else events.push(json);
    position = lineEnd + 1;
  }
  if (position === 0) {
    // A line longer than the batch, or a tail without its newline in a closed segment.
    if (bytes.length < limit - offset) return readBatch(folder, from, end, maxBytes * 2);
    damaged.push({ segment, offset, bytes });
    position = bytes.length;
  }
  return { events, next: { segment, offset: offset + position }, damaged };
};

const readRange = (path: string, offset: number, length: number): Buffer => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const count = readSync(file, bytes, read, length - read, offset + read);
      if (count === 0) break;
      read += count;
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
};
