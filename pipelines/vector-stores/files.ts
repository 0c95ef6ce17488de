/** Files of a vector store: list, get and delete. */
import { defer, map, switchMap } from 'rxjs';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { listJson, readPage } from './page.ts';
import { fileJson } from './shapes.ts';

type Needed = Pick<Ports, 'vectorStores'>;

/** GET /vector_store/{id}/files */
export const vectorStoreFiles =
  ({ vectorStores }: Needed): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const page = readPage(new URLSearchParams(exchange.query)); // 400 names the parameter
      return defer(() => vectorStores.get(subscription, exchange.params.id ?? '', 'id')).pipe(
        switchMap(async (store) => {
          const views = await vectorStores.files(store, { ...page, limit: page.limit + 1 });
          return jsonReply(
            listJson(
              views.map((view) => fileJson(store, view)),
              page,
            ),
          );
        }),
      );
    });

/** GET /vector_store/{id}/files/{fileid} */
export const vectorStoreFile =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '', fileid = '' } }, { subscription }) =>
    defer(() => vectorStores.get(subscription, id, 'id')).pipe(
      switchMap(async (store) => ({
        store,
        view: await vectorStores.file(store, fileid, 'fileid'),
      })),
      map(({ store, view }) => jsonReply(fileJson(store, view))),
    );

/** DELETE /vector_store/{id}/files/{fileid}: its items go too; one that is still being read is stopped. */
export const vectorStoreFileDelete =
  ({ vectorStores }: Needed): KeyedPipeline =>
  ({ params: { id = '', fileid = '' } }, { subscription }) =>
    defer(() => vectorStores.get(subscription, id, 'id')).pipe(
      switchMap((store) => vectorStores.removeFile(store, fileid)),
      map(() => jsonReply({ id: fileid, object: 'vector_store.file.deleted', deleted: true })),
    );
