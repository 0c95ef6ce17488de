/** Opens the configured Vectors adapter, and checks that it responds. */
import { join } from 'node:path';
import type { Vectors } from '../../ports/vectors.ts';
import { checked } from '../checked.ts';

interface VectorsConfig {
  readonly dataDir: string;
  readonly qdrantUrl: string | undefined;
  readonly qdrantKey: string | undefined;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openVectors = async ({ dataDir, qdrantUrl, qdrantKey }: VectorsConfig): Promise<Vectors> =>
  checked(await (qdrantUrl === undefined ? embedded(dataDir) : shared(qdrantUrl, qdrantKey)));

// Loaded when chosen: the other store's library costs a start nothing.
const embedded = async (dataDir: string): Promise<Vectors> =>
  (await import('./libsql.ts')).openLibsqlVectors(join(dataDir, 'vectors.db'));

const shared = async (url: string, key: string | undefined): Promise<Vectors> =>
  (await import('./qdrant.ts')).openQdrantVectors(url, { key });
