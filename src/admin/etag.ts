/** Entity tags of records, and the check of `If-Match`. */
import { createHash } from 'node:crypto';
import { fail } from '../errors.ts';

export const etagOf = (record: object): string =>
  `"${createHash('sha256').update(JSON.stringify(record)).digest('base64url').slice(0, 22)}"`;

/** Undefined where the header says nothing. */
export const expectation = (ifMatch: string): ((current: object) => void) | undefined => {
  if (ifMatch === '' || ifMatch.trim() === '*') return undefined;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  return (current) => {
    if (!tags.includes(etagOf(current)))
      throw fail('precondition_failed', 'The record has changed since its ETag was read: read it again');
  };
};
