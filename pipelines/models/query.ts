/** Reads the query of a model list: filter and page; a 400 names a bad parameter. */
import type { Model } from '../../schemas/catalog.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { readLimit, readOffset } from '../core/page.ts';

export type ModelFilter = (model: Model) => boolean;

export interface ListQuery {
  readonly query: URLSearchParams;
  readonly filter: ModelFilter;
  readonly page: Page | undefined;
}

type Listing = Pick<Exchange, 'query' | 'header'>;

export const readListQuery = (exchange: Listing): ListQuery => {
  const query = new URLSearchParams(exchange.query);
  return { query, filter: readFilter(exchange), page: readPage(query) };
};

/** Clients that expect a router's list get text models unless they request others. */
const routerClient = /openrouter/i;

export const readFilter = (exchange: Listing): ModelFilter => {
  const query = new URLSearchParams(exchange.query);
  const outputs = readOutputs(exchange, query);
  const inputs = words(query, 'input_modalities');
  const parameters = words(query, 'supported_parameters');
  return (model) =>
    (outputs === undefined || outputs.some((word) => model.output_modalities.includes(word))) &&
    inputs.every((word) => model.input_modalities.includes(word)) &&
    parameters.every((word) => model.supported_parameters.includes(word));
};

/** Undefined: models of every output. */
const readOutputs = (exchange: Listing, query: URLSearchParams): readonly string[] | undefined => {
  const requested = words(query, 'output_modalities');
  if (requested.includes('all')) return undefined;
  if (requested.length > 0) return requested;
  const textOnly = query.get('format') === 'openrouter' || routerClient.test(exchange.header('user-agent'));
  return textOnly ? ['text'] : undefined;
};

const words = (query: URLSearchParams, name: string): readonly string[] =>
  query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Undefined when neither is given: the whole list. */
export const readPage = (query: URLSearchParams): Page | undefined =>
  query.has('offset') || query.has('limit')
    ? { offset: readOffset(query), limit: readLimit(query, 500, 1000) }
    : undefined;
