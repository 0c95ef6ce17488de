/** What the routes of vector stores return, as far as it is shown. */

export interface Page<T> {
  readonly data: readonly T[];
}

export interface Store {
  readonly id: string;
  readonly name: string | null;
  readonly item_count: number;
  readonly file_counts: { readonly total: number };
  readonly embedding_model: string;
}

export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly status: 'in_progress' | 'completed' | 'failed' | 'cancelled';
  readonly last_error: { readonly message: string } | string | null;
  readonly item_count: number;
}
