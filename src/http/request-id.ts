/** Request ids that are unique over all processes. */
import { randomBytes } from 'node:crypto';

const counterDigits = 7;
const wrap = 36 ** counterDigits;

/** A fresh random part per process and per 78 billion requests, then a counter: no random bytes on the hot path. */
export const requestIds = (): (() => string) => {
  let prefix = randomPrefix();
  let count = 0;
  return () => {
    if (++count === wrap) {
      prefix = randomPrefix();
      count = 1;
    }
    return prefix + count.toString(36);
  };
};

const randomPrefix = (): string => `req_${randomBytes(12).toString('hex')}`;
