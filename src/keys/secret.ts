/** Secrets of API keys: generated, hashed for storage, shortened for display. */
import { createHash, randomBytes } from 'node:crypto';

const prefix = 'sk-sluice-';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Digits that 256 bits take in base 62. */
const digits = 43;

/** Longest secret that is looked at: more cannot be a key. */
export const maxSecretLength = 512;

/** 256 random bits in letters and digits, so that a double click selects all of it. */
export const newSecret = (): string => {
  let rest = BigInt(`0x${randomBytes(32).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < digits; digit++) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return prefix + text;
};

/** Plain SHA-256 is enough: there is no guessing 256 random bits, and a slow hash would only slow each replica. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

export const displaySecret = (secret: string): string =>
  `${secret.startsWith(prefix) ? prefix : ''}…${secret.slice(-4)}`;

/** `key_`, `sub_` or `bud_` and 96 random bits: names a record, opens nothing. */
export const newId = (kind: 'key' | 'sub' | 'bud'): string => `${kind}_${randomBytes(12).toString('hex')}`;
