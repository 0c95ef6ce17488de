/** POST /vector_store/{id}/search: the items nearest to a text, best first. OpenAI's clients call it `query`. */
import { from, map, type Observable } from 'rxjs';
import {
  type SearchPage,
  SearchQueryRequest,
  SearchRequest,
} from '../../schemas/vector-stores/vector-store.ts';
import { jsonReply, type KeyedPipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { type JsonObject, parseJson, receiveJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { embedAs, type QueryPorts, type WithVectors } from './embed.ts';
import { resultJson } from './shapes.ts';
import { type InStore, withStore } from './stores.ts';

interface Search {
  readonly texts: readonly string[];
  readonly limit: number;
  readonly threshold: number | undefined;
}

const usualResults = 10;

const searchRequest = validate(SearchRequest);
const searchQueryRequest = validate(SearchQueryRequest);

export const vectorStoreSearch = (
  ports: QueryPorts & Pick<Ports, 'vectorStores'>,
  readSearch: (body: JsonObject) => Search,
): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    readSearch, // 400 names the field
    withStore(ports), // 400 when there is none
    embedAs('search_query', ports, '/vector_store/{id}/search', searchItems(ports)), // 429 502 503
  );

export const readInputSearch = (body: JsonObject): Search => {
  const { input, max_num_results, score_threshold } = searchRequest(body);
  return {
    texts: [filled(input, 'input')],
    limit: max_num_results ?? usualResults,
    threshold: score_threshold,
  };
};

export const readQuerySearch = (body: JsonObject): Search => {
  const { query, max_num_results, score_threshold, ranking_options, filters } = searchQueryRequest(body);
  if (filters !== undefined)
    throw invalid('filters is not supported: items cannot be searched by attributes');
  const texts =
    typeof query === 'string'
      ? [filled(query, 'query')]
      : query.map((text, at) => filled(text, `query[${at}]`));
  return {
    texts,
    limit: max_num_results ?? usualResults,
    threshold: score_threshold ?? ranking_options?.score_threshold,
  };
};

const filled = (text: string, field: string): string => {
  if (text.trim() === '') throw invalid(`${field} must not be empty`);
  return text;
};

const searchItems =
  ({ vectorStores }: Pick<Ports, 'vectorStores'>) =>
  ({
    store,
    vectors,
    texts,
    limit,
    threshold = 0,
  }: WithVectors<Search & InStore>): Observable<WholeReply> => {
    // Every score is at least 0.
    const options = threshold > 0 ? { limit, minimum: threshold } : { limit };
    return from(vectorStores.search(store, vectors, options)).pipe(
      map((found) => jsonReply(pageOf(texts, found.map(resultJson)))),
    );
  };

const pageOf = (texts: readonly string[], data: SearchPage['data']): SearchPage => ({
  object: 'vector_store.search_results.page',
  search_query: [...texts],
  data,
  has_more: false,
  next_page: null,
});
