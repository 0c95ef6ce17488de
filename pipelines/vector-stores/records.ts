/** Vector stores themselves: create, list, get and delete. Another subscription's is not there. */
import { defer, from, map, switchMap } from 'rxjs';
import { CreateVectorStore } from '../../schemas/vector-store.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { parseJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { defaultEmbeddings } from './embed-query.ts';
import { listJson, readPage } from './page.ts';
import { vectorStoreJson } from './shapes.ts';

const createVectorStore = validate(CreateVectorStore);

type Needed = Pick<Ports, 'vectorStores' | 'catalog' | 'offload'>;

/** POST /vector_store: a name, a description and metadata in, all optional; the empty store out. */
export const vectorStoreCreate =
  ({ vectorStores, catalog, offload }: Needed): KeyedPipeline =>
  (exchange, { subscription }) =>
    // 400 413
    parseJson(offload, exchange).pipe(
      map(createVectorStore), // 400 names the field
      switchMap(({ name, description, metadata, embedding_model }) =>
        vectorStores.create(subscription, {
          name: name ?? null,
          description: description ?? null,
          metadata: metadata ?? {},
          model: defaultEmbeddings(catalog, embedding_model), // 404, 503 without any
        }),
      ),
      map((view) => jsonReply(vectorStoreJson(view), 201)),
    );

/** GET /vector_store: a page of the subscription's. */
export const vectorStoreList =
  ({ vectorStores }: Needed): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const page = readPage(new URLSearchParams(exchange.query)); // 400 names the parameter
      return from(vectorStores.list(subscription, { ...page, limit: page.limit + 1 })).pipe(
        map((views) => jsonReply(listJson(views.map(vectorStoreJson), page))),
      );
    });

/** GET /vector_store/{id} */
export const vectorStoreGet =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '' } }, { subscription }) =>
    // 400 when there is none
    defer(() => vectorStores.get(subscription, id, 'id')).pipe(
      switchMap((store) => vectorStores.view(store)),
      map((view) => jsonReply(vectorStoreJson(view))),
    );

/** DELETE /vector_store/{id}: everything in it goes too. */
export const vectorStoreDelete =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '' } }, { subscription }) =>
    defer(() => vectorStores.remove(subscription, id)).pipe(
      map(() => jsonReply({ id, object: 'vector_store.deleted', deleted: true })),
    );
