/** The Blobs port on an S3-compatible store, with links signed by its own rules. */
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import type { BlobInfo, BlobOptions, Blobs, ByteRange } from '../../ports/blobs.ts';
import { putBlob, writeBlob } from './blob-writer.ts';
import { refusal, S3Client, type S3Response } from './s3-client.ts';
import { CredentialsError } from './s3-credentials.ts';
import { objectKey } from './s3-keys.ts';
import type { S3Settings } from './s3-settings.ts';
import { sweepBucket } from './s3-sweep.ts';
import { beginUpload } from './s3-upload.ts';
import { startSweeper } from './sweeper.ts';
import { asUnavailable, missing, orUnavailable } from './unavailable.ts';

export const openS3Blobs = (settings: S3Settings, log: Logger): Blobs => {
  const client = new S3Client(settings);
  const begin = (name: string, options: BlobOptions) => beginUpload(client, name, options);
  const sweeping = {
    client,
    prefix: settings.prefix,
    expiryOf: async (name: string) => (await describe(client, name))?.expiresAt,
  };
  const sweeper = startSweeper((now) => sweepBucket(sweeping, now), log);

  return {
    write: writeBlob(begin),
    put: putBlob(begin),
    stat: (name) =>
      orUnavailable(async () => {
        const found = await describe(client, name);
        return found && isInForce(found) ? { mediaType: found.mediaType, size: found.size } : undefined;
      }),
    read: (name, backpressure, range) => s3Source((signal) => get(client, name, range, signal), backpressure),
    remove: (name) =>
      orUnavailable(async () => void (await client.ask({ method: 'DELETE', key: objectKey(name) }, [404]))),
    link: (name, seconds) => orUnavailable(() => client.link(objectKey(name), seconds)),
    check: () => check(client, settings),
    close: async () => {
      await sweeper.close();
      await client.close();
    },
  };
};

interface Described extends BlobInfo {
  readonly expiresAt: number | undefined;
}

const describe = async (client: S3Client, name: string): Promise<Described | undefined> => {
  const request = { method: 'HEAD', key: objectKey(name) } as const;
  const response = await client.send(request);
  await response.body.dump();
  if (response.statusCode === 404) return undefined;
  if (response.statusCode !== 200) throw refusal(request, response.statusCode, '');
  const { headers } = response;
  return {
    mediaType: String(headers['content-type'] ?? 'application/octet-stream'),
    size: Number(headers['content-length'] ?? 0),
    expiresAt: expiryIn(response),
  };
};

const expiryIn = ({ headers }: Pick<S3Response, 'headers'>): number | undefined => {
  const text = headers['x-amz-meta-expires-at'];
  return typeof text === 'string' ? Number(text) : undefined;
};

const isInForce = ({ expiresAt }: { readonly expiresAt: number | undefined }): boolean =>
  (expiresAt ?? Number.POSITIVE_INFINITY) > Date.now();

const get = async (
  client: S3Client,
  name: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<S3Response['body'] | undefined> => {
  const key = objectKey(name);
  const isNothing = range !== undefined && range.end <= range.start;
  const headers = range === undefined || isNothing ? {} : { range: `bytes=${range.start}-${range.end - 1}` };
  const request = { method: isNothing ? 'HEAD' : 'GET', key, headers } as const;
  const response = await client.send(request, signal);
  const { statusCode, body } = response;
  const isGood = statusCode === 200 || statusCode === 206;
  if (isGood && isInForce({ expiresAt: expiryIn(response) })) return isNothing ? undefined : body;
  await body.dump();
  // The range begins behind the end.
  if (statusCode === 416) return undefined;
  if (isGood || statusCode === 404) throw missing();
  throw refusal(request, statusCode, '');
};

/**
 * Emits as fast as backpressure allows. `get` resolves to undefined where there are no bytes, and rejects with the error
 * for the reader.
 */
const s3Source = (
  get: (signal: AbortSignal) => Promise<S3Response['body'] | undefined>,
  backpressure: Backpressure,
): Observable<Buffer> =>
  new Observable((subscriber) => {
    const left = new AbortController();
    let listener: Pausable | undefined;
    const start = (body: S3Response['body'] | undefined): void => {
      if (body === undefined) {
        subscriber.complete();
        return;
      }
      body.on('error', (error) => subscriber.error(asUnavailable(error)));
      if (subscriber.closed) {
        body.destroy();
        return;
      }
      body.on('end', () => subscriber.complete());
      listener = { pause: () => body.pause(), resume: () => body.resume() };
      body.on('data', (piece: Buffer) => subscriber.next(piece));
      backpressure.attach(listener);
    };
    get(left.signal).then(start, (error: unknown) => subscriber.error(asUnavailable(error)));
    return () => {
      if (listener !== undefined) backpressure.detach(listener);
      left.abort();
    };
  });

const check = async (client: S3Client, { bucket, endpoint }: S3Settings): Promise<void> => {
  const host = new URL(endpoint).host;
  const status = await answerOf(client).catch((cause: unknown) => {
    const reason = cause instanceof CredentialsError ? `used: ${cause.message}` : 'reached';
    throw new Error(`S3 at ${host} cannot be ${reason}`, { cause });
  });
  if (status === 404) throw new Error(`S3 at ${host} has no bucket "${bucket}"`);
  if (status === 403) throw new Error(`S3 at ${host} refuses the key for the bucket "${bucket}"`);
  if (status >= 300) throw new Error(`S3 at ${host} answers ${status} for the bucket "${bucket}"`);
};

const answerOf = async (client: S3Client): Promise<number> => {
  const { statusCode, body } = await client.send({ method: 'HEAD' });
  await body.dump();
  return statusCode;
};
