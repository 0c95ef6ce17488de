/** Items of a vector store: list, get, describe anew, delete. */
import { defer, map, switchMap } from 'rxjs';
import { UpdateItem } from '../../schemas/vector-store.ts';
import { jsonReply, type KeyedPipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Item } from '../../src/ports/vectors.ts';
import { parseJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { embedDocument, type QueryPorts } from './embed-query.ts';
import { cursor, listJson, readLimit, readOrder } from './page.ts';
import { itemJson } from './shapes.ts';

type Needed = Pick<Ports, 'vectorStores'>;

const updateItem = validate(UpdateItem);
const itemRoute = '/vector_store/{id}/items/{itemid}';

/** GET /vector_store/{id}/items: by file and place. */
export const vectorStoreItems =
  ({ vectorStores }: Needed): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const query = new URLSearchParams(exchange.query);
      const limit = readLimit(query); // 400 names the parameter
      const { file_id: file } = cursor(query, 'file_id');
      const page = {
        ...cursor(query, 'after'),
        order: readOrder(query, 'asc'),
        ...(file === undefined ? {} : { file }),
      };
      return defer(() => vectorStores.get(subscription, exchange.params.id ?? '', 'id')).pipe(
        switchMap(async (store) => {
          if (file !== undefined) await vectorStores.file(store, file, 'file_id');
          const items = await vectorStores.items(store, { ...page, limit: limit + 1 });
          const entries = items.map((item) => itemJson(store.id, item));
          return jsonReply(listJson(entries, { ...page, limit }));
        }),
      );
    });

/** GET /vector_store/{id}/items/{itemid} */
export const vectorStoreItem =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '', itemid = '' } }, { subscription }) =>
    defer(() => vectorStores.get(subscription, id, 'id')).pipe(
      switchMap((store) => vectorStores.item(store, itemid)),
      map((item) => jsonReply(itemJson(id, item))),
    );

/** PATCH /vector_store/{id}/items/{itemid}: a description in; the item out, found by it from now on. */
export const vectorStoreItemUpdate =
  (ports: QueryPorts & Needed): KeyedPipeline =>
  (exchange, caller) => {
    const { vectorStores, offload } = ports;
    const { id = '', itemid = '' } = exchange.params;
    // 400 413
    return parseJson(offload, exchange).pipe(
      map(updateItem), // 400 names the field
      switchMap(async ({ description }) => {
        const store = await vectorStores.get(caller.subscription, id, 'id'); // 400
        return { description, store, item: await vectorStores.item(store, itemid) }; // 400
      }),
      switchMap(({ description, store, item }) =>
        // 429 502 503
        embedDocument(
          ports,
          { exchange, caller, route: itemRoute },
          store,
          embeddedText(description, item),
        ).pipe(
          switchMap(async ([vector = new Float32Array()]) =>
            vectorStores.describe(store, itemid, { description, vector }),
          ),
        ),
      ),
      map((item) => jsonReply(itemJson(id, item), 202)),
    );
  };

/** What an item is found by: its description, and still its text. */
const embeddedText = (description: string, { text }: Item): string =>
  description.trim() === '' ? text : `${description}\n\n${text}`;

/** DELETE /vector_store/{id}/items/{itemid} */
export const vectorStoreItemDelete =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '', itemid = '' } }, { subscription }) =>
    defer(() => vectorStores.get(subscription, id, 'id')).pipe(
      switchMap((store) => vectorStores.removeItem(store, itemid)),
      map(() => nothing),
    );

const nothing: WholeReply = { kind: 'whole', status: 204, headers: {}, body: '' };
