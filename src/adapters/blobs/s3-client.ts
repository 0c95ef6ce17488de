/** Signed requests to S3 with timeouts and retries. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request as send } from 'undici';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import {
  type CredentialSource,
  type Credentials,
  fixedCredentials,
  webIdentityCredentials,
} from './s3-credentials.ts';
import type { S3Settings } from './s3-settings.ts';
import { readWords, reasonIn } from './s3-xml.ts';

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Without the prefix; undefined for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

export type S3Response = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

const timeouts = { connect: { timeout: 5_000 }, headersTimeout: 30_000, bodyTimeout: 30_000 };
const connections = 64;
const attempts = 3;
const backoff = exponentialBackoff({ first: 100, factor: 4 });
const longestLink = 7 * 24 * 3600;
/** A list of a thousand keys is half of this. */
const longestWords = 1024 * 1024;

/** Worth a retry: the store is busy, or the network failed. */
const passing = new Set([429, 500, 502, 503, 504]);

export class S3Client {
  readonly #settings: S3Settings;
  readonly #agent = new Agent({ ...timeouts, connections });
  readonly #source: CredentialSource;
  /** Signing keys of the day. */
  #signingKeys = new Map<string, ArrayBuffer>();

  constructor(settings: S3Settings) {
    this.#settings = settings;
    const { credentials } = settings;
    this.#source =
      'roleArn' in credentials
        ? webIdentityCredentials(credentials, this.#agent)
        : fixedCredentials(credentials);
  }

  /** Of a request that creates an object. */
  get encryptionHeaders(): Readonly<Record<string, string>> {
    const { encryption } = this.#settings;
    if (encryption === undefined) return {};
    const { method, keyId } = encryption;
    return {
      'x-amz-server-side-encryption': method,
      ...(keyId !== undefined && { 'x-amz-server-side-encryption-aws-kms-key-id': keyId }),
    };
  }

  /** Any answer but a passing failure; its body is to be read or dumped. */
  async send(request: S3Request, signal?: AbortSignal): Promise<S3Response> {
    for (let attempt = 1; ; attempt++) {
      const last = attempt === attempts;
      try {
        const response = await this.#once(request, signal);
        if (last || !passing.has(response.statusCode)) return response;
        await response.body.dump();
      } catch (error) {
        if (last || signal?.aborted === true) throw error;
      }
      await delay(backoff(attempt), undefined, signal === undefined ? {} : { signal });
    }
  }

  /** Rejects unless the answer is a success or one of `also`; its words out. */
  async ask(request: S3Request, also: readonly number[] = []): Promise<{ status: number; words: string }> {
    const { statusCode: status, body } = await this.send(request);
    const words = await readWords(body, longestWords);
    if ((status < 200 || status > 299) && !also.includes(status)) throw refusal(request, status, words);
    return { status, words };
  }

  /** An address that anybody may GET for so long, but no longer than the credentials are valid. */
  async link(key: string, seconds: number): Promise<string> {
    const { publicEndpoint, endpoint } = this.#settings;
    const url = this.#url(publicEndpoint ?? endpoint, key);
    const lifetime = Math.min(longestLink, Math.max(1, Math.floor(seconds)));
    url.searchParams.set('X-Amz-Expires', String(lifetime));
    const credentials = await this.#source.get(lifetime);
    const unsigned = { method: 'GET', url: url.href, signQuery: true };
    return (await new AwsV4Signer({ ...this.#signing(credentials), ...unsigned }).sign()).url.href;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #once({ method, key, query, headers, body }: S3Request, signal?: AbortSignal): Promise<S3Response> {
    const url = this.#url(this.#settings.endpoint, key);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const length = body?.reduce((sum, piece) => sum + piece.length, 0);
    const unsigned = { method, url: url.href, headers: { ...headers } };
    const credentials = await this.#source.get();
    const signed = await new AwsV4Signer({ ...this.#signing(credentials), ...unsigned }).sign();
    return send(signed.url, {
      method,
      headers: {
        ...Object.fromEntries(signed.headers),
        ...(length === undefined ? {} : { 'content-length': String(length) }),
      },
      // Pieces are not joined: each attempt reads them again.
      body: body === undefined || length === 0 ? null : Readable.from(body, { objectMode: false }),
      dispatcher: this.#agent,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #url(endpoint: string, key: string | undefined): URL {
    const { bucket, prefix, pathStyle } = this.#settings;
    const url = new URL(endpoint);
    const path = url.pathname.replace(/\/+$/, '');
    const object = key === undefined ? '' : `/${prefix}${key}`;
    if (pathStyle) url.pathname = `${path}/${bucket}${object}`;
    else {
      url.host = `${bucket}.${url.host}`;
      url.pathname = path + (object === '' ? '/' : object);
    }
    return url;
  }

  #signing({ accessKeyId, secretAccessKey, sessionToken }: Credentials) {
    // A key a day, or with every renewal, would pile up.
    if (this.#signingKeys.size > 8) this.#signingKeys = new Map();
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      region: this.#settings.region,
      service: 's3',
      cache: this.#signingKeys,
    };
  }
}

/** For the log: the store's own code and words. */
export const refusal = ({ method }: S3Request, status: number, words: string): Error =>
  new Error(`S3 answered ${status} to ${method}: ${reasonIn(words)}`.trim());
