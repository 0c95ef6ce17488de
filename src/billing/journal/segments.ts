/** The files of one journal folder: numbered segments, in order. */
import { readdirSync, readFileSync, statSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { decodeLine } from './line.ts';

/** A place in the journal: everything before it has been handed on. */
export interface Cursor {
  readonly segment: number;
  readonly offset: number;
}

export const start: Cursor = { segment: 0, offset: 0 };

const ending = '.journal';
const newline = 0x0a;

export const segmentPath = (folder: string, segment: number): string =>
  join(folder, `${String(segment).padStart(10, '0')}${ending}`);

/** Numbers of the segments on disk, oldest first. */
export const listSegments = (folder: string): readonly number[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);

export const segmentBytes = (folder: string, segment: number): number =>
  statSync(segmentPath(folder, segment)).size;

export const removeSegment = (folder: string, segment: number): void =>
  unlinkSync(segmentPath(folder, segment));

/** Cuts a torn last line off a segment, as a crash in the middle of a write leaves it: its write was never acknowledged. */
export const mendTail = (folder: string, segment: number, log: Logger): void => {
  const path = segmentPath(folder, segment);
  const bytes = readFileSync(path);
  let end = bytes.length;
  while (end > 0) {
    const lineStart = bytes.lastIndexOf(newline, end - 2) + 1;
    const whole = bytes[end - 1] === newline && decodeLine(bytes.subarray(lineStart, end - 1)) !== undefined;
    if (whole) break;
    end = lineStart;
  }
  if (end === bytes.length) return;
  truncateSync(path, end);
  log.warn({ path, bytes: bytes.length - end }, 'journal: torn last line removed');
};
