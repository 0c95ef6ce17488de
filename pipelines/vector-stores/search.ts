/** POST /vector_store/{id}/search: a text in; the items nearest to it out, best first. OpenAI's clients call it `query`. */
import { defer, map, switchMap } from 'rxjs';
import { type SearchPage, SearchQueryRequest, SearchRequest } from '../../schemas/vector-store.ts';
import { fail } from '../../src/errors.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { type JsonObject, parseJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { embedQuery, type QueryPorts } from './embed-query.ts';
import { resultJson } from './shapes.ts';

interface Search {
  readonly texts: readonly string[];
  readonly limit: number;
  readonly threshold: number | undefined;
}

const usualResults = 10;
const route = '/vector_store/{id}/search';

const searchRequest = validate(SearchRequest);
const searchQueryRequest = validate(SearchQueryRequest);

export const vectorStoreSearch =
  (
    ports: QueryPorts & Pick<Ports, 'vectorStores'>,
    readSearch: (body: JsonObject) => Search,
  ): KeyedPipeline =>
  (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      map(readSearch), // 400 names the field
      switchMap((search) =>
        // 400 when there is none
        defer(() => ports.vectorStores.get(caller.subscription, exchange.params.id ?? '', 'id')).pipe(
          switchMap((store) =>
            // 429 502 503
            embedQuery(ports, { exchange, caller, route }, store, search.texts).pipe(
              switchMap((vectors) => ports.vectorStores.search(store, vectors, optionsOf(search))),
            ),
          ),
          map((found) => jsonReply(pageOf(search, found.map(resultJson)))),
        ),
      ),
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
    throw fail('invalid_request', 'filters is not supported: items cannot be searched by attributes');
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
  if (text.trim() === '') throw fail('invalid_request', `${field} must not be empty`);
  return text;
};

/** Every score is at least 0. */
const optionsOf = ({ limit, threshold = 0 }: Search) =>
  threshold > 0 ? { limit, minimum: threshold } : { limit };

const pageOf = ({ texts }: Search, data: SearchPage['data']): SearchPage => ({
  object: 'vector_store.search_results.page',
  search_query: [...texts],
  data,
  has_more: false,
  next_page: null,
});
