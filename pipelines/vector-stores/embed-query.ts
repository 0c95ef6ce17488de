/** A vector store and texts to search it by in; the texts' vectors out. 502 when they could not be embedded, 503 while embeddings are unavailable. */
import { catchError, defer, type Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { VectorStoreRecord } from '../../schemas/vector-store-records.ts';
import { type ApiError, asApiError, type ErrorKind, fail } from '../../src/errors.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { readEmbeddingRequest } from '../embeddings/read-request.ts';
import { type EmbedPorts, type Errand, embedTexts } from './embed-texts.ts';

export type QueryPorts = EmbedPorts & Pick<Ports, 'catalog'>;

/** Queries: models that know them from documents are told. */
export const embedQuery = (
  ports: QueryPorts,
  errand: Errand,
  store: VectorStoreRecord,
  texts: readonly string[],
): Observable<readonly Float32Array[]> => embedAs('search_query', ports, errand, store, texts);

export const embedDocument = (
  ports: QueryPorts,
  errand: Errand,
  store: VectorStoreRecord,
  text: string,
): Observable<readonly Float32Array[]> => embedAs('search_document', ports, errand, store, [text]);

const embedAs = (
  input_type: string,
  ports: QueryPorts,
  errand: Errand,
  { model: id }: VectorStoreRecord,
  input: readonly string[],
): Observable<readonly Float32Array[]> =>
  defer(() => {
    const model = ports.catalog.find(id);
    if (model === undefined) throw fail('unavailable', `The embedding model ${id} is not served now`);
    const body = { model: id, input, input_type, encoding_format: 'base64' } as const;
    return embedTexts(ports, errand, readEmbeddingRequest({ body, model, variant: undefined }));
  }).pipe(
    catchError((error: unknown) => {
      throw embeddingFailure(asApiError(error));
    }),
  );

/** The model that a new vector store is embedded by. */
export const defaultEmbeddings = (catalog: Catalog, id: string | undefined): Model => {
  if (id !== undefined) return catalog.resolve(id, 'embedding').model;
  try {
    return catalog.resolve(undefined, 'embedding').model;
  } catch (cause) {
    throw fail('unavailable', 'Embeddings are unavailable: no embedding model is served', { cause });
  }
};

/** What the client did, or must wait for, is told as it is. */
const passedOn: ReadonlySet<ErrorKind> = new Set(['invalid_request', 'payload_too_large', 'rate_limited']);
const unavailable: ReadonlySet<ErrorKind> = new Set(['unavailable', 'overloaded', 'not_found']);

const embeddingFailure = (error: ApiError): ApiError => {
  if (passedOn.has(error.kind)) return error;
  const { headers, message } = error;
  return unavailable.has(error.kind)
    ? fail('unavailable', `Embeddings are unavailable: ${message}`, { cause: error, headers })
    : fail('engine_unreachable', `The text could not be embedded: ${message}`, { cause: error, headers });
};
