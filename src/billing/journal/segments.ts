/** The files of one journal folder: numbered segments, in order. */
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Damage } from './damage.ts';
import { decodeLine, isTornLine } from './line.ts';

/** A place in the journal: everything before it has been handed on. */
export interface Cursor {
  readonly segment: number;
  readonly offset: number;
}

export const start: Cursor = { segment: 0, offset: 0 };

export const isBefore = (one: Cursor, other: Cursor): boolean =>
  one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset);

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

/**
 * Makes the end of a dead process's last segment readable. Events are acknowledged only when their whole write, newline
 * included, has returned: a first part of a line was never acknowledged and is cut off. Anything else without a newline
 * is damage. Lines that are complete stay, and those that do not read are set aside when they are shipped.
 */
export const mendTail = (folder: string, segment: number, damage: Damage): void => {
  const path = segmentPath(folder, segment);
  const bytes = readFileSync(path);
  const offset = bytes.lastIndexOf(newline) + 1;
  const tail = bytes.subarray(offset);
  if (tail.length === 0) return;
  if (decodeLine(tail) !== undefined) {
    appendFileSync(path, '\n');
    return;
  }
  const fragment = { segment, offset, bytes: tail };
  if (isTornLine(tail)) damage.torn(folder, fragment);
  else damage.damaged(folder, [fragment]);
  truncateSync(path, offset);
};
