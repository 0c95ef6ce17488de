/** Loads the newest entries of a list of the admin API, and more of them on request. */
import { useState } from 'preact/hooks';
import { adminEntries, type Entries } from '../api/admin.ts';
import type { Query } from '../api/http.ts';
import { type Loaded, useLoad } from './use-load.ts';

export interface LoadedEntries<T> extends Loaded<Entries<T>> {
  readonly loadMore: () => void;
}

export const useEntries = <T extends { readonly id: string }>(
  path: string,
  query: Query,
  step: number,
): LoadedEntries<T> => {
  const [most, setMost] = useState(step);
  const loaded = useLoad(
    (signal) => adminEntries<T>(path, query, most, signal),
    [path, JSON.stringify(query), most],
  );
  return { ...loaded, loadMore: () => setMost((before) => before + step) };
};
