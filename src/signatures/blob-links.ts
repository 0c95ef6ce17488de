/** Signed links to files that expire, valid on every replica. */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { State } from '../ports/state.ts';
import { readInstallationKey } from './installation-key.ts';

export interface BlobLinks {
  /** `expires` in Unix seconds. */
  sign(name: string, expires: number): Promise<string>;
  /** Whether we signed exactly this; says nothing of the time. */
  isOurs(name: string, expires: number, signature: string): Promise<boolean>;
}

export const openBlobLinks = (state: State): BlobLinks => {
  let key: KeyObject | undefined;
  const signatureOf = async (name: string, expires: number): Promise<Buffer> => {
    key ??= await readInstallationKey(state, 'blob-links');
    // No name has a line break in it.
    return createHmac('sha256', key).update(`${name}\n${expires}`).digest();
  };
  return {
    sign: async (name, expires) => (await signatureOf(name, expires)).toString('base64url'),
    isOurs: async (name, expires, signature) => {
      const expected = await signatureOf(name, expires);
      const given = Buffer.from(signature, 'base64url');
      // The text is compared too: several spellings of base64 decode to the same bytes.
      return (
        given.length === expected.length &&
        timingSafeEqual(given, expected) &&
        given.toString('base64url') === signature
      );
    },
  };
};
