/** Routes in the hash of the address: `#/keys/key_1?subscription=default`. */
import { computed, signal } from '@preact/signals';

export interface Location {
  /** The first segment: which page. */
  readonly page: string;
  /** Those after it, decoded. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const here = computed<Location>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/').map(decoded);
  return { page, rest, query: new URLSearchParams(query) };
});

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** `#/keys/key_1?…` of its parts. */
export const linkTo = (
  segments: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  const search = new URLSearchParams(pairs).toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
};

export const goTo = (...target: Parameters<typeof linkTo>): void => {
  location.hash = linkTo(...target);
};
