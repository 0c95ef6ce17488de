/** Files of a vector store: list, get and delete. */
import { defer, map, switchMap } from 'rxjs';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { listJson, readPage } from './page.ts';
import { fileJson } from './shapes.ts';

type Needed = Pick<Ports, 'collections'>;

/** GET /vector_store/{id}/files */
export const vectorStoreFiles =
  ({ collections }: Needed): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const page = readPage(new URLSearchParams(exchange.query)); // 400 names the parameter
      return defer(() => collections.get(subscription, exchange.params.id ?? '', 'id')).pipe(
        switchMap(async (collection) => {
          const views = await collections.files(collection, { ...page, limit: page.limit + 1 });
          return jsonReply(
            listJson(
              views.map((view) => fileJson(collection, view)),
              page,
            ),
          );
        }),
      );
    });

/** GET /vector_store/{id}/files/{fileid} */
export const vectorStoreFile =
  ({ collections }: Needed): KeyedPipeline =>
  ({ params: { id = '', fileid = '' } }, { subscription }) =>
    defer(() => collections.get(subscription, id, 'id')).pipe(
      switchMap(async (collection) => ({
        collection,
        view: await collections.file(collection, fileid, 'fileid'),
      })),
      map(({ collection, view }) => jsonReply(fileJson(collection, view))),
    );

/** DELETE /vector_store/{id}/files/{fileid}: its items go too; one that is still being read is stopped. */
export const vectorStoreFileDelete =
  ({ collections }: Needed): KeyedPipeline =>
  ({ params: { id = '', fileid = '' } }, { subscription }) =>
    defer(() => collections.get(subscription, id, 'id')).pipe(
      switchMap((collection) => collections.removeFile(collection, fileid)),
      map(() => jsonReply({ id: fileid, object: 'vector_store.file.deleted', deleted: true })),
    );
