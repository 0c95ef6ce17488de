/** Opens the configured Vectors adapter, and checks that it responds. */
import { join } from 'node:path';
import type { Vectors } from '../../ports/vectors.ts';
import { checked } from '../checked.ts';
import type { DiskReserve } from '../disk-reserve.ts';
import type { QdrantSettings } from './qdrant-settings.ts';

interface VectorsConfig {
  readonly dataDir: string;
  /** Undefined: a file in the data folder. */
  readonly qdrant: QdrantSettings | undefined;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openVectors = async (
  { dataDir, qdrant }: VectorsConfig,
  reserve?: DiskReserve,
): Promise<Vectors> => checked(await (qdrant === undefined ? embedded(dataDir, reserve) : shared(qdrant)));

// Loaded when chosen: the other store's library costs a start nothing.
const embedded = async (dataDir: string, reserve: DiskReserve | undefined): Promise<Vectors> =>
  (await import('./libsql.ts')).openLibsqlVectors(join(dataDir, 'vectors.db'), {
    ...(reserve !== undefined && { reserve }),
  });

const shared = async ({ url, ...settings }: QdrantSettings): Promise<Vectors> =>
  (await import('./qdrant.ts')).openQdrantVectors(url, settings);
