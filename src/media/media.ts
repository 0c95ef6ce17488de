/** The Media port: reads URLs, data URIs and bare base64. */
import { defer, of } from 'rxjs';
import { fail } from '../errors.ts';
import { Semaphore } from '../helpers/semaphore.ts';
import type { Media, MediaData, MediaRule } from '../ports/media.ts';
import { offloaded } from '../ports/offload.ts';
import { ownWork, type Shared } from '../ports/shared.ts';
import { Base64Writer } from './base64.ts';
import { dataUriHeader, declaredType, isDataUri } from './data-uri.ts';
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
  type GuardedResponse,
} from './guarded-fetch.ts';
import { encodedMedia, tooLarge } from './media-data.ts';

export interface MediaOptions extends GuardedFetchOptions {
  /** Fetches that run at once, and those that may wait for one to end. */
  readonly maxFetches?: number;
  readonly maxWaiting?: number;
}

const maxRedirects = 3;

export const createMedia = (options: MediaOptions): Media & Shared<Media> => {
  const guardedFetch = createGuardedFetch(options);
  const semaphore = new Semaphore({
    permits: options.maxFetches ?? 32,
    maxWaiters: options.maxWaiting ?? 256,
    busy: 'The service is busy fetching other media; retry in a moment',
  });

  const mediaFor = (subscription: string): Media => ({
    read: (url, rule) =>
      defer(() => {
        if (isDataUri(url)) {
          const header = dataUriHeader(url);
          if (header === undefined) throw fail('invalid_request', `${rule.field} must be a base64 data URI`);
          const base64 = typeof url === 'string' ? url.slice(header.length) : url.subarray(header.length);
          return of(encodedMedia(base64, header.mediaType, rule));
        }
        if (typeof url !== 'string') {
          throw fail('invalid_request', `${rule.field} must be an https URL or a data URI`);
        }
        return offloaded((signal) =>
          semaphore.run({ subscription, signal }, () => fetchMedia(guardedFetch, url, rule, signal)),
        );
      }),
    decode: (base64, rule) => encodedMedia(base64, undefined, rule),
    // A fetch belongs to its subscriber; nothing is held between them.
    close: async () => undefined,
  });
  return { ...mediaFor(ownWork), for: mediaFor, stats: () => ({ fetches: semaphore.stats() }) };
};

const fetchMedia = (
  guardedFetch: GuardedFetch,
  url: string,
  rule: MediaRule,
  signal: AbortSignal,
): Promise<MediaData> =>
  guardedFetch({ url, field: rule.field, maxRedirects }, signal, async (response) => {
    const { expected, type } = headOf(response, rule);
    const writer = new Base64Writer(rule.maxBytes, expected);
    let received = 0;
    for await (const chunk of response.body) {
      received += chunk.length;
      if (received > rule.maxBytes) throw tooLarge(rule);
      writer.write(chunk);
    }
    return encodedMedia(writer.end(), type, rule);
  });

const headOf = ({ statusCode, headers }: GuardedResponse, rule: MediaRule) => {
  if (statusCode < 200 || statusCode > 299) {
    throw fail('invalid_request', `${rule.field} could not be fetched: it answers with status ${statusCode}`);
  }
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') {
    throw fail('invalid_request', `${rule.field} could not be fetched: it is served compressed`);
  }
  const declared = headers['content-length'];
  const expected = typeof declared === 'string' ? Number(declared) : undefined;
  if (expected !== undefined && expected > rule.maxBytes) throw tooLarge(rule);
  return { expected, type: declaredType(String(headers['content-type'] ?? '')) };
};
