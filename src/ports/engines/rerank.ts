/** Rerank calls and results: how relevant each document is to a query. */

export interface RerankCall {
  readonly query: string;
  readonly documents: readonly string[];
}

/** The scores of the documents from `first` on, in their order; more is more relevant. */
export interface Reranked {
  readonly first: number;
  readonly scores: readonly number[];
  /** Read by the engine, the query once for each document; undefined when it does not say. */
  readonly tokens: number | undefined;
}
