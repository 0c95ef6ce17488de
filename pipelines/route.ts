/** A row of the route table: what the HTTP edge must know before a pipeline runs. */
import Type from 'typebox';
import type { ReplyHeader, RouteDoc } from '../schemas/openapi.ts';
import type { ErrorDialect } from '../src/errors.ts';
import type { Exchange, KeyedPipeline, Pipeline } from '../src/ports/exchange.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

interface RouteBase {
  readonly method: Method;
  /** Below `/v1`, that of a page below the root. `{name}` is one segment; `{name+}` one or more, joined by slashes, last in the path. */
  readonly path: string;
  /** What the first parameter begins with; a path where it does not is another one, and unknown. */
  readonly idPrefix?: string;
  /** Bytes of request body accepted; absent: none. */
  readonly bodyLimit?: number;
  /** Shape of errors; chosen per request where a header decides. */
  readonly errors?: ErrorDialect | ((header: Exchange['header']) => ErrorDialect);
  /** For the OpenAPI document. */
  readonly doc?: RouteDoc;
}

export type Route =
  | (RouteBase & { readonly access: 'public'; readonly pipeline: Pipeline })
  /** Needs an API key unless it is public. */
  | (RouteBase & { readonly access?: 'key'; readonly pipeline: KeyedPipeline });

/** Bytes of a body that may carry images, audio and documents as base64. */
export const mediaBodyLimit = 128 * 1024 * 1024;

/** What every route that streams events takes. */
export const resumableHeaders = Type.Object({
  'Sluice-Resumable': Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Seconds that the stream goes on when the connection is lost, to be read on by `GET /streams/{id}`',
      examples: [60],
    }),
  ),
});

/** Statuses of a request that an engine generates the response of. */
export const generationErrors: readonly number[] = [400, 404, 413, 429, 502, 503, 504];

/** Headers of responses that an engine was called for, where they are known. */
const timings: readonly ReplyHeader[] = [
  'x-sluice-replica',
  'x-sluice-attempts',
  'x-sluice-queue-ms',
  'x-sluice-engine-ms',
  'x-sluice-overhead-ms',
  'x-sluice-cached-tokens',
];
export const callHeaders: readonly ReplyHeader[] = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  ...timings,
];
/** Of the messages format. */
export const messagesCallHeaders: readonly ReplyHeader[] = [
  'anthropic-ratelimit-requests-limit',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  ...timings,
];
/** Of a stream that was requested as a resumable one. */
export const resumableReply: readonly ReplyHeader[] = ['x-stream-id', 'sluice-resumable'];
