/** Signed requests to S3 with timeouts and retries. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request as send } from 'undici';
import { exponentialBackoff } from '../../backoff.ts';

export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`, `http://minio:9000` … */
  readonly endpoint: string;
  /** Where clients reach the same store; links start with it. Undefined: the endpoint. */
  readonly publicEndpoint: string | undefined;
  readonly bucket: string;
  /** What every key begins with: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The bucket stands in the path, and not in the host's name. */
  readonly pathStyle: boolean;
}

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
  /** Signing keys of the day. */
  #signingKeys = new Map<string, ArrayBuffer>();

  constructor(settings: S3Settings) {
    this.#settings = settings;
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
    const words = await wordsOf(body);
    if ((status < 200 || status > 299) && !also.includes(status)) throw refusal(request, status, words);
    return { status, words };
  }

  /** An address that anybody may GET for so long. */
  async link(key: string, seconds: number): Promise<string> {
    const { publicEndpoint, endpoint } = this.#settings;
    const url = this.#url(publicEndpoint ?? endpoint, key);
    url.searchParams.set('X-Amz-Expires', String(Math.min(longestLink, Math.max(1, Math.floor(seconds)))));
    const signer = new AwsV4Signer({ ...this.#credentials(), method: 'GET', url: url.href, signQuery: true });
    return (await signer.sign()).url.href;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #once({ method, key, query, headers, body }: S3Request, signal?: AbortSignal): Promise<S3Response> {
    const url = this.#url(this.#settings.endpoint, key);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const length = body?.reduce((sum, piece) => sum + piece.length, 0);
    const unsigned = { method, url: url.href, headers: { ...headers } };
    const signed = await new AwsV4Signer({ ...this.#credentials(), ...unsigned }).sign();
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

  #credentials() {
    const { accessKeyId, secretAccessKey, region } = this.#settings;
    // A key a day would pile up.
    if (this.#signingKeys.size > 8) this.#signingKeys = new Map();
    return { accessKeyId, secretAccessKey, region, service: 's3', cache: this.#signingKeys };
  }
}

const wordsOf = async (body: S3Response['body']): Promise<string> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > longestWords) throw new Error('S3 sent too long an answer');
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size).toString('utf8');
};

/** For the log: the store's own code and words. */
export const refusal = ({ method }: S3Request, status: number, words: string): Error =>
  new Error(
    `S3 answered ${status} to ${method}: ${element(words, 'Code') ?? ''} ${element(words, 'Message') ?? ''}`.trim(),
  );

/** The text of the first element of that name; all that is read of XML here. */
export const element = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
