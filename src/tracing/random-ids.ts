/** Nothing in; ids of traces and spans out, from random bytes fetched many at a time. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

const digits = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  const text = pool.toString('hex', used - bytes, used);
  // All zeros means none.
  return /^0+$/.test(text) ? digits(bytes) : text;
};

export const newTraceId = (): string => digits(16);
export const newSpanId = (): string => digits(8);
