/** Ids, record kinds and indexes of vector stores in the State port. */
import { createHash, randomBytes } from 'node:crypto';
import type {
  FileStatus,
  VectorStoreFileRecord,
  VectorStoreRecord,
} from '../../schemas/vector-stores/records.ts';
import { type ApiError, fail } from '../errors.ts';
import type { RecordIndex, State } from '../ports/state.ts';

export const storeKind = 'vector-store';
export const fileKind = 'vector-store-file';
export const removalKind = 'vector-store-removal';

/** Vector stores are counted by subscription, … */
export const storeIndex = (owner: string, { created }: VectorStoreRecord): RecordIndex => ({
  group: owner,
  due: created,
});

/** … and their files by store and status: they are never due, but counted. */
export const fileIndex = ({ store, status, created }: VectorStoreFileRecord): RecordIndex => ({
  group: `${store} ${status}`,
  due: created,
});

export const countStores = (state: State, owner: string): Promise<number> =>
  state.countDue(storeKind, { group: owner, until: Number.MAX_SAFE_INTEGER });

export const countFiles = (state: State, store: string, status: FileStatus): Promise<number> =>
  state.countDue(fileKind, { group: `${store} ${status}`, until: Number.MAX_SAFE_INTEGER });

export const newVectorStoreId = (): string => `vs_${randomBytes(12).toString('hex')}`;
export const newFileId = (): string => `file-${randomBytes(12).toString('hex')}`;

/** Deterministic: a file that is read again after a restart replaces its own items. */
export const itemId = (file: string, index: number): string =>
  `item_${createHash('sha256').update(`${file}/${index}`).digest('hex').slice(0, 24)}`;

export const blobOf = (file: string): string => `uploads/${file}`;

/** `id: there is no vector store "vs_…"`. */
export const absent = (field: string, what: string, id: string): ApiError =>
  fail('invalid_request', `${field}: there is no ${what} ${JSON.stringify(id.slice(0, 100))}`);
