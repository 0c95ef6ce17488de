/** An S3 store for tests: `S3_ENDPOINT`, or a MinIO on a free loopback port. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { S3Client } from '../../src/adapters/blobs/s3-client.ts';
import type { S3Settings } from '../../src/adapters/blobs/s3-settings.ts';
import { loadConfig } from '../../src/config.ts';
import {
  type Disturbed,
  dataFolder,
  disturbed,
  freePort,
  launch,
  notAskedFor,
  servicesFolder,
} from './child.ts';

export interface S3Service {
  /** Under a prefix of this run's own. */
  readonly settings: S3Settings;
  /** Undefined when the service is not ours: such tests need one they may stop. */
  readonly process: ChildProcess | undefined;
  readonly own: Disturbed | undefined;
  stop(): Promise<void>;
}

const program = join(servicesFolder, 'minio');

/** Why there is no S3 to test with; undefined when there is one. */
export const s3Missing = ({ own = false }: { readonly own?: boolean } = {}): string | undefined => {
  if (!own && shared() !== undefined) return undefined;
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  if (existsSync(program)) return undefined;
  return `no MinIO in ${servicesFolder}${own ? ' for tests that stop it' : ' and S3_ENDPOINT is not set'}; test/services/fetch builds it`;
};

export interface S3Wishes {
  /** One that may be stopped. */
  readonly own?: boolean;
  /** Further settings of MinIO; only of one's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

export const startS3 = async ({ own = false, environment = {} }: S3Wishes = {}): Promise<S3Service> => {
  const prefix = `sluice-test-${randomBytes(6).toString('hex')}/`;
  const given = own ? undefined : shared();
  if (given !== undefined)
    return {
      settings: { ...given, prefix },
      process: undefined,
      own: undefined,
      stop: async () => undefined,
    };
  const folder = await dataFolder('s3');
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const secret = randomBytes(16).toString('hex');
  let server: ChildProcess | undefined;
  const disturbable = await disturbed(async () => {
    server = await launch(
      program,
      ['server', '--quiet', '--address', `127.0.0.1:${port}`, '--console-address', '127.0.0.1:0', folder],
      () => answers(`${endpoint}/minio/health/ready`),
      {
        ...process.env,
        MINIO_ROOT_USER: 'sluice',
        MINIO_ROOT_PASSWORD: secret,
        MINIO_BROWSER: 'off',
        ...environment,
      },
    );
    return server;
  });
  const settings: S3Settings = {
    endpoint,
    publicEndpoint: undefined,
    bucket: 'sluice',
    prefix,
    region: 'us-east-1',
    credentials: { accessKeyId: 'sluice', secretAccessKey: secret },
    pathStyle: true,
  };
  await createBucket(settings);
  return {
    settings,
    process: server,
    own: disturbable,
    stop: async () => {
      await disturbable.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** What a gateway that uses the store has in its environment. */
export const s3Environment = ({ endpoint, bucket, prefix, credentials }: S3Settings) => {
  if ('roleArn' in credentials) throw new Error('These tests need a store with keys.');
  return {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_PREFIX: prefix,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
};

const createBucket = async (settings: S3Settings): Promise<void> => {
  const client = new S3Client(settings);
  await client.ask({ method: 'PUT', body: [] });
  await client.close();
};

const shared = (): S3Settings | undefined => loadConfig().s3;

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
};
