/** How vector stores lie in the State port: kinds, and what they are counted by. */
import type {
  FileStatus,
  VectorStoreFileRecord,
  VectorStoreRecord,
} from '../../schemas/vector-store-records.ts';
import type { RecordIndex, State } from '../ports/state.ts';

export const storeKind = 'vector-store';
export const fileKind = 'vector-store-file';
export const removalKind = 'vector-store-removal';

/** Vector stores of a subscription, … */
export const storeIndex = (owner: string, { created }: VectorStoreRecord): RecordIndex => ({
  group: owner,
  due: created,
});

/** … and files of a vector store by status: they are never due, but counted. */
export const fileIndex = ({ store, status, created }: VectorStoreFileRecord): RecordIndex => ({
  group: `${store} ${status}`,
  due: created,
});

export const countStores = (state: State, owner: string): Promise<number> =>
  state.countDue(storeKind, { group: owner, until: Number.MAX_SAFE_INTEGER });

export const countFiles = (state: State, store: string, status: FileStatus): Promise<number> =>
  state.countDue(fileKind, { group: `${store} ${status}`, until: Number.MAX_SAFE_INTEGER });
