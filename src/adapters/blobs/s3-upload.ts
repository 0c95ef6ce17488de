/** Uploads a blob to S3: in one request when it is small, else in parts. */
import type { BlobOptions } from '../../ports/blobs.ts';
import type { PendingBlob } from './blob-writer.ts';
import { refusal, type S3Client, type S3Request } from './s3-client.ts';
import { markerKey, objectKey } from './s3-keys.ts';
import { element } from './s3-xml.ts';

/** S3 takes no part below 5 MiB but the last, and no more than ten thousand: with these 80 GB. */
const partBytes = 8 * 1024 * 1024;

export const beginUpload = (client: S3Client, name: string, options: BlobOptions): PendingBlob => {
  const { mediaType, expiresAt } = options;
  const key = objectKey(name);
  const { encryptionHeaders } = client;
  const headers = {
    ...encryptionHeaders,
    'content-type': mediaType,
    ...(expiresAt === undefined ? {} : { 'x-amz-meta-expires-at': String(expiresAt) }),
  };
  const tags: string[] = [];
  let waiting: Uint8Array[] = [];
  let size = 0;
  let uploadId: string | undefined;
  let published = false;

  const begin = async (): Promise<string> => {
    const request: S3Request = { method: 'POST', key, query: { uploads: '' }, headers, body: [] };
    const { status, words } = await client.ask(request);
    const id = element(words, 'UploadId');
    if (id === undefined) throw refusal(request, status, words);
    return id;
  };
  const sendPart = async (): Promise<void> => {
    uploadId ??= await begin();
    const query = { partNumber: String(tags.length + 1), uploadId };
    const request: S3Request = { method: 'PUT', key, query, body: waiting };
    const response = await client.send(request);
    const words = await response.body.text();
    const tag = response.headers.etag;
    if (response.statusCode !== 200 || typeof tag !== 'string')
      throw refusal(request, response.statusCode, words);
    tags.push(tag);
    waiting = [];
    size = 0;
  };
  const complete = async (uploadId: string): Promise<void> => {
    if (size > 0) await sendPart();
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
    );
    const body = [Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)];
    const request: S3Request = { method: 'POST', key, query: { uploadId }, body };
    published = true;
    const { status, words } = await client.ask(request);
    // It may fail after it has said 200.
    if (element(words, 'Code') !== undefined) throw refusal(request, status, words);
  };

  return {
    append: async (pieces) => {
      for (const piece of pieces) {
        waiting.push(piece);
        size += piece.length;
        if (size >= partBytes) await sendPart();
      }
    },
    publish: async () => {
      // First, since a marker without an object does no harm.
      if (expiresAt !== undefined)
        await client.ask({
          method: 'PUT',
          key: markerKey(name, expiresAt),
          headers: encryptionHeaders,
          body: [],
        });
      if (uploadId === undefined) {
        // From here on it may be there, whatever the answer.
        published = true;
        await client.ask({ method: 'PUT', key, headers, body: waiting });
      } else await complete(uploadId);
      waiting = [];
    },
    discard: async () => {
      waiting = [];
      if (published) await client.ask({ method: 'DELETE', key }, [404]);
      else if (uploadId !== undefined)
        await client.ask({ method: 'DELETE', key, query: { uploadId } }, [404]);
    },
  };
};
