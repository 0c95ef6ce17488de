/** How vector stores lie in the State port: kinds, and what they are counted by. */
import type {
  CollectionFileRecord,
  CollectionRecord,
  FileStatus,
} from '../../schemas/vector-store-records.ts';
import type { RecordIndex, State } from '../ports/state.ts';

export const collectionKind = 'collection';
export const fileKind = 'collection-file';
export const removalKind = 'collection-removal';

/** Collections of a subscription, … */
export const collectionIndex = (owner: string, { created }: CollectionRecord): RecordIndex => ({
  group: owner,
  due: created,
});

/** … and files of a collection by status: they are never due, but counted. */
export const fileIndex = ({ collection, status, created }: CollectionFileRecord): RecordIndex => ({
  group: `${collection} ${status}`,
  due: created,
});

export const countCollections = (state: State, owner: string): Promise<number> =>
  state.countDue(collectionKind, { group: owner, until: Number.MAX_SAFE_INTEGER });

export const countFiles = (state: State, collection: string, status: FileStatus): Promise<number> =>
  state.countDue(fileKind, { group: `${collection} ${status}`, until: Number.MAX_SAFE_INTEGER });
