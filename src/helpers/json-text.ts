/** Writes JSON whose bigints are integers, with every digit. */
import { randomUUID } from 'node:crypto';

/** Nobody can guess it: no text of a client's is taken for an integer. */
const mark = randomUUID();
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g');

export const jsonText = (value: unknown): string => {
  let hasWide = false;
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'bigint') return member;
    hasWide = true;
    return mark + member;
  });
  return hasWide ? text.replace(marked, '$1') : text;
};
