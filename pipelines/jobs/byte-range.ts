/** A `range` header and the size of what it asks a part of in; the part out, `all` of it, or `none` when there is no such part. */
import type { ByteRange } from '../../src/ports/blobs.ts';

const one = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Several ranges at once, other units and what cannot be read are answered with everything, as HTTP allows. */
export const readByteRange = (header: string, size: number): ByteRange | 'all' | 'none' => {
  const [, first, last] = one.exec(header.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'all';
  if (first === '')
    return Number(last) === 0 || size === 0 ? 'none' : { start: Math.max(0, size - Number(last)), end: size };
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (end <= start) return last === '' ? 'none' : 'all';
  return start < size ? { start, end: Math.min(end, size) } : 'none';
};
