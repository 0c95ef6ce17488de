/** Items of a vector store: list, get, describe anew, delete. */
import { defer, map, switchMap } from 'rxjs';
import { UpdateItem } from '../../schemas/vector-store.ts';
import { jsonReply, type KeyedPipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Passage } from '../../src/ports/vectors.ts';
import { parseJson } from '../core/parse-json.ts';
import { validate } from '../core/validate.ts';
import { embedDocument, type QueryPorts } from './embed-query.ts';
import { cursor, listJson, readLimit, readOrder } from './page.ts';
import { itemJson } from './shapes.ts';

type Needed = Pick<Ports, 'collections'>;

const updateItem = validate(UpdateItem);
const itemRoute = '/vector_store/{id}/items/{itemid}';

/** GET /vector_store/{id}/items: by file and place. */
export const vectorStoreItems =
  ({ collections }: Needed): KeyedPipeline =>
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
      return defer(() => collections.get(subscription, exchange.params.id ?? '', 'id')).pipe(
        switchMap(async (collection) => {
          if (file !== undefined) await collections.file(collection, file, 'file_id');
          const items = await collections.items(collection, { ...page, limit: limit + 1 });
          const entries = items.map((item) => itemJson(collection.id, item));
          return jsonReply(listJson(entries, { ...page, limit }));
        }),
      );
    });

/** GET /vector_store/{id}/items/{itemid} */
export const vectorStoreItem =
  ({ collections }: Needed): KeyedPipeline =>
  ({ params: { id = '', itemid = '' } }, { subscription }) =>
    defer(() => collections.get(subscription, id, 'id')).pipe(
      switchMap((collection) => collections.item(collection, itemid)),
      map((item) => jsonReply(itemJson(id, item))),
    );

/** PATCH /vector_store/{id}/items/{itemid}: a description in; the item out, found by it from now on. */
export const vectorStoreItemUpdate =
  (ports: QueryPorts & Needed): KeyedPipeline =>
  (exchange, caller) => {
    const { collections, offload } = ports;
    const { id = '', itemid = '' } = exchange.params;
    // 400 413
    return parseJson(offload, exchange).pipe(
      map(updateItem), // 400 names the field
      switchMap(async ({ description }) => {
        const collection = await collections.get(caller.subscription, id, 'id'); // 400
        return { description, collection, item: await collections.item(collection, itemid) }; // 400
      }),
      switchMap(({ description, collection, item }) =>
        // 429 502 503
        embedDocument(
          ports,
          { exchange, caller, route: itemRoute },
          collection,
          embeddedText(description, item),
        ).pipe(
          switchMap(async ([vector = new Float32Array()]) =>
            collections.describe(collection, itemid, { description, vector }),
          ),
        ),
      ),
      map((item) => jsonReply(itemJson(id, item), 202)),
    );
  };

/** What an item is found by: its description, and still its text. */
const embeddedText = (description: string, { text }: Passage): string =>
  description.trim() === '' ? text : `${description}\n\n${text}`;

/** DELETE /vector_store/{id}/items/{itemid} */
export const vectorStoreItemDelete =
  ({ collections }: Needed): KeyedPipeline =>
  ({ params: { id = '', itemid = '' } }, { subscription }) =>
    defer(() => collections.get(subscription, id, 'id')).pipe(
      switchMap((collection) => collections.removeItem(collection, itemid)),
      map(() => nothing),
    );

const nothing: WholeReply = { kind: 'whole', status: 204, headers: {}, body: '' };
