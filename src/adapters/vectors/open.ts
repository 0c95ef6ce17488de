/** Opens the configured Vectors adapter, and checks that it responds. */
import { join } from 'node:path';
import type { Vectors } from '../../ports/vectors.ts';
import { checked } from '../checked.ts';
import type { DiskReserve } from '../disk-reserve.ts';

interface VectorsConfig {
  readonly dataDir: string;
  readonly qdrantUrl: string | undefined;
  readonly qdrantKey: string | undefined;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openVectors = async (
  { dataDir, qdrantUrl, qdrantKey }: VectorsConfig,
  reserve?: DiskReserve,
): Promise<Vectors> =>
  checked(await (qdrantUrl === undefined ? embedded(dataDir, reserve) : shared(qdrantUrl, qdrantKey)));

// Loaded when chosen: the other store's library costs a start nothing.
const embedded = async (dataDir: string, reserve: DiskReserve | undefined): Promise<Vectors> =>
  (await import('./libsql.ts')).openLibsqlVectors(join(dataDir, 'vectors.db'), {
    ...(reserve !== undefined && { reserve }),
  });

const shared = async (url: string, key: string | undefined): Promise<Vectors> =>
  (await import('./qdrant.ts')).openQdrantVectors(url, { key });
