/** The admin API, called with the operator's token. */
import { signal } from '@preact/signals';
import { type Api, type Query, type RequestOptions, request, requestJson } from './http.ts';
import { adminToken } from './session.ts';

/** Whether the gateway refused the token that was typed in last. */
export const tokenRefused = signal(false);

export const adminApi: Api = {
  base: () => new URL('admin/v1', document.baseURI).href,
  token: () => adminToken.value,
  refused: () => {
    tokenRefused.value = true;
    adminToken.value = undefined;
  },
};

export const adminJson = <T>(path: string, options?: RequestOptions): Promise<T> =>
  requestJson<T>(adminApi, path, options);

/** A path whose segments come from outside. */
export const adminPath = (...segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');

/** A record with its `ETag`, so that a change can name what it changes. */
export interface Versioned<T> {
  readonly value: T;
  readonly etag: string;
}

export const adminRecord = async <T>(path: string, signal?: AbortSignal): Promise<Versioned<T>> => {
  const response = await request(adminApi, path, signal && { signal });
  return { value: (await response.json()) as T, etag: response.headers.get('etag') ?? '' };
};

export const ifMatch = (etag: string): Readonly<Record<string, string>> =>
  etag === '' ? {} : { 'if-match': etag };

interface ListPage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

export interface Entries<T> {
  /** The newest first. */
  readonly entries: readonly T[];
  /** Whether there are others. */
  readonly more: boolean;
}

const largestPage = 100;

/** The newest entries of a list, at most so many. */
export const adminEntries = async <T extends { readonly id: string }>(
  path: string,
  query: Query,
  most: number,
  signal?: AbortSignal,
): Promise<Entries<T>> => {
  const entries: T[] = [];
  for (;;) {
    const limit = Math.min(largestPage, most - entries.length);
    const page = await adminJson<ListPage<T>>(path, {
      query: { ...query, limit, after: entries.at(-1)?.id },
      ...(signal && { signal }),
    });
    entries.push(...page.data);
    const more = page.has_more && page.data.length > 0;
    if (!more || entries.length >= most) return { entries, more };
  }
};
