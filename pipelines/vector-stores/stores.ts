/** Vector stores themselves: create, list, get and delete. */
import { from, map, type Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { CreateVectorStore } from '../../schemas/vector-stores/vector-store.ts';
import { fail } from '../../src/errors.ts';
import type { Catalog, ModelScope } from '../../src/ports/catalog.ts';
import {
  type Exchange,
  jsonReply,
  type KeyedPipeline,
  type KeyedRequest,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { RecordPage } from '../../src/ports/vector-stores.ts';
import { compose } from '../core/compose.ts';
import { listJson, readPage } from '../core/page.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { vectorStoreJson } from './shapes.ts';

const createVectorStore = validate(CreateVectorStore);

type StorePorts = Pick<Ports, 'vectorStores'>;
type CreatePorts = Pick<Ports, 'vectorStores' | 'catalog' | 'offload'>;

export interface InStore {
  readonly store: VectorStoreRecord;
}

const storeOf = ({ vectorStores }: StorePorts, { exchange, caller }: KeyedRequest) =>
  from(vectorStores.get(caller.subscription, exchange.params.id ?? '', 'id'));

/** The vector store of the path: 400 when the subscription has none of that id. */
export const findStore =
  (ports: StorePorts): Step<unknown, VectorStoreRecord, KeyedRequest> =>
  (_, request) =>
    storeOf(ports, request);

/** The same, beside what was read of the request. */
export const withStore =
  <Value extends object>(ports: StorePorts): Step<Value, Value & InStore, KeyedRequest> =>
  (value, request) =>
    storeOf(ports, request).pipe(map((store) => ({ ...value, store })));

/** A route that reads or changes what is stored in the vector store of its path. */
export const inStore = (
  ports: StorePorts,
  reply: (store: VectorStoreRecord, params: Exchange['params']) => Promise<WholeReply>,
): KeyedPipeline =>
  compose(
    findStore(ports), // 400 when there is none
    (store, { exchange }: KeyedRequest) => from(reply(store, exchange.params)),
  );

/** POST /vector_store: an empty vector store; name, description and metadata are optional. */
export const vectorStoreCreate = (ports: CreatePorts): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    createVectorStore, // 400 names the field
    createStore(ports), // 404, 503 without any embedding model
  );

const createStore =
  ({ vectorStores, catalog }: CreatePorts) =>
  (
    { name, description, metadata, embedding_model }: CreateVectorStore,
    { caller }: KeyedRequest,
  ): Observable<WholeReply> => {
    const created = vectorStores.create(caller.subscription, {
      name: name ?? null,
      description: description ?? null,
      metadata: metadata ?? {},
      model: embeddingModel(catalog, embedding_model, caller.scope),
    });
    return from(created).pipe(map((view) => jsonReply(vectorStoreJson(view), 201)));
  };

/** The model that a new vector store is embedded by. */
const embeddingModel = (catalog: Catalog, id: string | undefined, scope: ModelScope | undefined): Model => {
  if (id !== undefined) return catalog.resolve(id, 'embedding', undefined, scope).model;
  try {
    return catalog.resolve(undefined, 'embedding', undefined, scope).model;
  } catch (cause) {
    throw fail('unavailable', 'Embeddings are unavailable: no embedding model is served', { cause });
  }
};

/** GET /vector_store: a page of the subscription's. */
export const vectorStoreList = (ports: StorePorts): KeyedPipeline =>
  compose(
    readPage, // 400 names the parameter
    listStores(ports),
  );

const listStores =
  ({ vectorStores }: StorePorts) =>
  (page: RecordPage, { caller }: KeyedRequest): Observable<WholeReply> =>
    from(vectorStores.list(caller.subscription, { ...page, limit: page.limit + 1 })).pipe(
      map((views) => jsonReply(listJson(views.map(vectorStoreJson), page))),
    );

/** GET /vector_store/{id} */
export const vectorStoreGet = (ports: StorePorts): KeyedPipeline =>
  inStore(ports, async (store) => jsonReply(vectorStoreJson(await ports.vectorStores.view(store))));

/** DELETE /vector_store/{id}: with everything in it. */
export const vectorStoreDelete = (ports: StorePorts): KeyedPipeline => compose(removeStore(ports));

const removeStore =
  ({ vectorStores }: StorePorts) =>
  (_: unknown, { exchange, caller }: KeyedRequest): Observable<WholeReply> => {
    const { id = '' } = exchange.params;
    return from(vectorStores.remove(caller.subscription, id)).pipe(
      map(() => jsonReply({ id, object: 'vector_store.deleted', deleted: true })),
    );
  };
