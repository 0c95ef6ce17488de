/** Items of a vector store: list, get, update and delete. */
import { from, map, type Observable } from 'rxjs';
import { UpdateItem } from '../../schemas/vector-stores/vector-store.ts';
import {
  jsonReply,
  type KeyedPipeline,
  type KeyedRequest,
  noContent,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Item, ItemPage } from '../../src/ports/vectors.ts';
import { compose } from '../core/compose.ts';
import { listJson, readItemPage } from '../core/page.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { embedAs, type QueryPorts, type ToEmbed, type WithVectors } from './embed.ts';
import { itemJson } from './shapes.ts';
import { type InStore, inStore, withStore } from './stores.ts';

type ItemPorts = Pick<Ports, 'vectorStores'>;
type PageInStore = ItemPage & InStore;

const updateItem = validate(UpdateItem);

/** GET /vector_store/{id}/items: in the order of files and of their text. */
export const vectorStoreItems = (ports: ItemPorts): KeyedPipeline =>
  compose(
    readItemPage, // 400 names the parameter
    withStore(ports), // 400 when there is none
    findFile(ports), // 400 when there is none
    listItems(ports),
  );

const findFile =
  ({ vectorStores }: ItemPorts): Step<PageInStore, PageInStore, unknown> =>
  (page) =>
    page.file === undefined
      ? page
      : from(vectorStores.file(page.store, page.file, 'file_id')).pipe(map(() => page));

const listItems =
  ({ vectorStores }: ItemPorts) =>
  ({ store, ...page }: PageInStore): Observable<WholeReply> =>
    from(vectorStores.items(store, { ...page, limit: page.limit + 1 })).pipe(
      map((items) => items.map((item) => itemJson(store.id, item))),
      map((items) => jsonReply(listJson(items, page))),
    );

/** GET /vector_store/{id}/items/{itemid} */
export const vectorStoreItem = (ports: ItemPorts): KeyedPipeline =>
  inStore(ports, async (store, { itemid = '' }) =>
    jsonReply(itemJson(store.id, await ports.vectorStores.item(store, itemid))),
  );

/** PATCH /vector_store/{id}/items/{itemid}: a description, which search finds the item by from then on. */
export const vectorStoreItemUpdate = (ports: QueryPorts & ItemPorts): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    updateItem, // 400 names the field
    withStore(ports), // 400 when there is none
    readItemText(ports), // 400 when there is none
    embedAs('search_document', ports, '/vector_store/{id}/items/{itemid}', describeItem(ports)), // 429 502 503
  );

interface Update {
  readonly description: string;
}

interface Described extends Update, ToEmbed {
  readonly id: string;
}

const readItemText =
  ({ vectorStores }: ItemPorts) =>
  ({ store, description }: Update & InStore, { exchange }: KeyedRequest): Observable<Described> => {
    const { itemid: id = '' } = exchange.params;
    return from(vectorStores.item(store, id)).pipe(
      map((item) => ({ store, description, id, texts: [embeddedText(description, item)] })),
    );
  };

/** What an item is found by: its description, and still its text. */
const embeddedText = (description: string, { text }: Item): string =>
  description.trim() === '' ? text : `${description}\n\n${text}`;

const describeItem =
  ({ vectorStores }: ItemPorts) =>
  ({
    store,
    description,
    id,
    vectors: [vector = new Float32Array()],
  }: WithVectors<Described>): Observable<WholeReply> =>
    from(vectorStores.describe(store, id, { description, vector })).pipe(
      map((item) => jsonReply(itemJson(store.id, item), 202)),
    );

/** DELETE /vector_store/{id}/items/{itemid} */
export const vectorStoreItemDelete = (ports: ItemPorts): KeyedPipeline =>
  inStore(ports, async (store, { itemid = '' }) => {
    await ports.vectorStores.removeItem(store, itemid);
    return noContent;
  });
