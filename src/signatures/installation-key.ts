/** Secret keys of an installation by purpose, created at first use and shared by all replicas. */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { SigningKeyRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import type { State } from '../ports/state.ts';

const kind = 'signing-key';

export const readInstallationKey = async (state: State, purpose: string): Promise<KeyObject> => {
  // False when an earlier start or another replica made one; theirs holds then.
  await state.create<SigningKeyRecord>(kind, {
    id: purpose,
    owner: 'installation',
    value: { key: randomBytes(32).toString('base64') },
  });
  const kept = await state.get<SigningKeyRecord>(kind, purpose);
  if (kept === undefined) throw fail('unavailable', `The key that signs ${purpose} cannot be read`);
  return createSecretKey(kept.value.key, 'base64');
};
