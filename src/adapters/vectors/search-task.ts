/** What the adapter and its searching thread say to each other. */
import type { Hit } from '../../ports/vectors.ts';

export interface SearchTask {
  /** The SQLite file. */
  readonly path: string;
  /** Bytes of vectors to keep in memory at most. */
  readonly memory: number;
  readonly store: string;
  readonly query: Float32Array;
  readonly limit: number;
  readonly minimum?: number;
  readonly file?: string;
}

export type SearchOutcome =
  | { readonly hits: readonly Hit[] }
  /** Those of the store: the query has others. */
  | { readonly dimensions: number }
  | { readonly error: unknown };
