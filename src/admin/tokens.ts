/** Tokens of the admin API: the one of the settings, and those in the store, of which only hashes are kept. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AdminTokenRecord } from '../../schemas/admin/tokens.ts';
import { asApiError, fail } from '../errors.ts';
import type { State } from '../ports/state.ts';

const kind = 'admin-token';
const prefix = 'sluice-admin-';
/** Who the holder of `SLUICE_ADMIN_TOKEN` is in the audit log. */
const settingsName = 'SLUICE_ADMIN_TOKEN';
const longest = 512;
/** Tokens of one installation. */
const mostTokens = 1_000;

/** Resolves with the name of the token; rejects with `authentication` (401). */
export type Authenticate = (authorization: string) => Promise<string>;

export const createAuthenticate = (state: State, fromSettings: string | undefined): Authenticate => {
  const expected = fromSettings === undefined ? undefined : digest(fromSettings);
  return async (authorization) => {
    const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? '';
    if (token === '' || token.length > longest)
      throw refused('Send the admin token: Authorization: Bearer TOKEN');
    const given = digest(token);
    // Hashes are compared: neither length nor content of the token shows in the time it takes.
    if (expected !== undefined && timingSafeEqual(given, expected)) return settingsName;
    const record = await state.get<AdminTokenRecord>(kind, given.toString('hex'));
    if (record === undefined) throw refused('Invalid admin token');
    return record.value.name;
  };
};

const refused = (message: string) =>
  fail('authentication', message, { headers: { 'www-authenticate': 'Bearer' } });

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

export interface NewToken {
  /** Shown now and never again. */
  readonly token: string;
  readonly record: AdminTokenRecord;
}

export interface TokenManagement {
  create(name: string): Promise<NewToken>;
  list(): Promise<readonly AdminTokenRecord[]>;
  /** Rejects with `not_found`. */
  revoke(name: string): Promise<AdminTokenRecord>;
}

export const createTokenManagement = (state: State): TokenManagement => {
  const all = () => state.list<AdminTokenRecord>(kind, { limit: mostTokens, order: 'asc' });
  return {
    create: async (name) => {
      if (!/^[\w.:@/-]{1,64}$/.test(name))
        throw fail('invalid_request', 'name must be 1 to 64 letters, digits and . : @ / - _');
      const known = await all();
      if (known.some(({ value }) => value.name === name) || name === settingsName || name === 'cli')
        throw fail('conflict', `There is a token "${name}" already`);
      if (known.length >= mostTokens) throw fail('conflict', `There are ${mostTokens} tokens already`);
      const token = prefix + randomBytes(32).toString('base64url');
      const record = {
        name,
        created: Math.floor(Date.now() / 1000),
        display: `${prefix}…${token.slice(-4)}`,
      };
      await state.create(kind, { id: digest(token).toString('hex'), owner: '', value: record });
      return { token, record };
    },
    list: async () => (await all()).map(({ value }) => value),
    revoke: async (name) => {
      const found = (await all()).find(({ value }) => value.name === name);
      if (found === undefined || !(await state.remove(kind, found.id)))
        throw fail('not_found', `There is no token "${name}"`);
      return found.value;
    },
  };
};

/** Creates a token when the store has none, and returns it, this once. */
export const ensureFirstToken = async (state: State): Promise<string | undefined> => {
  const [any] = await state.list(kind, { limit: 1, order: 'asc' });
  if (any !== undefined) return undefined;
  try {
    return (await createTokenManagement(state).create('first')).token;
  } catch (error) {
    // Another gateway that starts on the same store was first.
    if (asApiError(error).kind === 'conflict') return undefined;
    throw error;
  }
};
