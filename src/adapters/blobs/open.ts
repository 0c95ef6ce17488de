/** Opens the configured Blobs adapter, and checks that it responds. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Blobs } from '../../ports/blobs.ts';
import type { State } from '../../ports/state.ts';
import { openBlobLinks } from '../../signatures/blob-links.ts';
import { checked } from '../checked.ts';
import type { DiskReserve } from '../disk-reserve.ts';
import type { S3Settings } from './s3-settings.ts';

interface BlobsConfig {
  readonly dataDir: string;
  /** Undefined: a folder of the data folder. */
  readonly s3: S3Settings | undefined;
}

interface BlobsSurroundings {
  readonly reserve?: DiskReserve;
  readonly state: State;
  readonly log: Logger;
  readonly publicUrl: () => string;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openBlobs = async (config: BlobsConfig, around: BlobsSurroundings): Promise<Blobs> =>
  checked(await (config.s3 === undefined ? folder(config.dataDir, around) : bucket(config.s3, around)));

// Loaded when chosen: the other store's library costs a start nothing.
const bucket = async (s3: S3Settings, { log }: BlobsSurroundings): Promise<Blobs> =>
  (await import('./s3.ts')).openS3Blobs(s3, log);

const folder = async (
  dataDir: string,
  { reserve, state, log, publicUrl }: BlobsSurroundings,
): Promise<Blobs> => {
  const links = openBlobLinks(state);
  const { openFolderBlobs } = await import('./folder.ts');
  return openFolderBlobs({
    folder: join(dataDir, 'blobs'),
    ...(reserve !== undefined && { reserve }),
    log,
    link: async (name, expires) =>
      `${publicUrl()}/blobs/${name}?expires=${expires}&signature=${await links.sign(name, expires)}`,
  });
};
