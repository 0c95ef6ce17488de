/** Uploads a blob to S3: in one request when it is small, else in parts. */
import type { BlobOptions } from '../../ports/blobs.ts';
import type { PendingBlob } from './blob-writer.ts';
import { element, refusal, type S3Client, type S3Request } from './s3-client.ts';
import { markerKey, objectKey } from './s3-keys.ts';

/** S3 takes no part below 5 MiB but the last, and no more than ten thousand: with these 80 GB. */
const partBytes = 8 * 1024 * 1024;

export class S3Upload implements PendingBlob {
  readonly #client: S3Client;
  readonly #name: string;
  readonly #key: string;
  readonly #options: BlobOptions;
  #waiting: Uint8Array[] = [];
  #size = 0;
  #upload: string | undefined;
  readonly #tags: string[] = [];
  #published = false;

  constructor(client: S3Client, name: string, options: BlobOptions) {
    this.#client = client;
    this.#name = name;
    this.#key = objectKey(name);
    this.#options = options;
  }

  async append(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.#waiting.push(piece);
      this.#size += piece.length;
      if (this.#size >= partBytes) await this.#sendPart();
    }
  }

  async publish(): Promise<void> {
    // First, since a marker without an object does no harm.
    if (this.#options.expiresAt !== undefined)
      await this.#client.ask({
        method: 'PUT',
        key: markerKey(this.#name, this.#options.expiresAt),
        body: [],
      });
    if (this.#upload === undefined) {
      // From here on it may be there, whatever the answer.
      this.#published = true;
      await this.#client.ask({
        method: 'PUT',
        key: this.#key,
        headers: this.#headers(),
        body: this.#waiting,
      });
    } else await this.#complete(this.#upload);
    this.#waiting = [];
  }

  async discard(): Promise<void> {
    this.#waiting = [];
    if (this.#published) await this.#client.ask({ method: 'DELETE', key: this.#key }, [404]);
    else if (this.#upload !== undefined)
      await this.#client.ask({ method: 'DELETE', key: this.#key, query: { uploadId: this.#upload } }, [404]);
  }

  async #complete(uploadId: string): Promise<void> {
    if (this.#size > 0) await this.#sendPart();
    const parts = this.#tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
    );
    const body = [Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)];
    const request: S3Request = { method: 'POST', key: this.#key, query: { uploadId }, body };
    this.#published = true;
    const { status, words } = await this.#client.ask(request);
    // It may fail after it has said 200.
    if (element(words, 'Code') !== undefined) throw refusal(request, status, words);
  }

  async #sendPart(): Promise<void> {
    this.#upload ??= await this.#begin();
    const request: S3Request = {
      method: 'PUT',
      key: this.#key,
      query: { partNumber: String(this.#tags.length + 1), uploadId: this.#upload },
      body: this.#waiting,
    };
    const { statusCode, headers, body } = await this.#client.send(request);
    const words = await body.text();
    const tag = headers.etag;
    if (statusCode !== 200 || typeof tag !== 'string') throw refusal(request, statusCode, words);
    this.#tags.push(tag);
    this.#waiting = [];
    this.#size = 0;
  }

  async #begin(): Promise<string> {
    const request: S3Request = {
      method: 'POST',
      key: this.#key,
      query: { uploads: '' },
      headers: this.#headers(),
      body: [],
    };
    const { status, words } = await this.#client.ask(request);
    const id = element(words, 'UploadId');
    if (id === undefined) throw refusal(request, status, words);
    return id;
  }

  #headers(): Record<string, string> {
    const { mediaType, expiresAt } = this.#options;
    return {
      'content-type': mediaType,
      ...(expiresAt === undefined ? {} : { 'x-amz-meta-expires-at': String(expiresAt) }),
    };
  }
}
