/** Files of a vector store: add, list, get and delete. */
import { from, map, type Observable, switchMap } from 'rxjs';
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
import { type ReceivedUpload, receiveUpload } from './receive-upload.ts';
import { fileJson } from './shapes.ts';
import { findStore, type InStore, inStore, withStore } from './stores.ts';

type FilePorts = Pick<Ports, 'vectorStores'>;

/** POST /vector_store/{id}/files: a file in a form; the response to a large one says in progress. */
export const vectorStoreAddFile = (
  ports: Pick<Ports, 'vectorStores' | 'blobs' | 'catalog' | 'offload' | 'usage'>,
): KeyedPipeline =>
  compose(
    ensureUsage(ports), // 503 while usage cannot be recorded
    findStore(ports), // 400 when there is none
    receiveUpload(ports), // 400 413, also when the quota is used up
    addFile(ports), // 400 when it cannot be read
  );

const ensureUsage =
  ({ usage }: Pick<Ports, 'usage'>) =>
  (exchange: Exchange): Exchange => {
    usage.ensureOpen();
    return exchange;
  };

const addFile =
  ({ vectorStores }: FilePorts) =>
  ({ store, upload }: ReceivedUpload, { caller }: KeyedRequest): Observable<WholeReply> =>
    from(vectorStores.add(store, upload, caller)).pipe(
      // The first file may have settled how long the vectors are.
      switchMap(async (view) => fileJson(await vectorStores.get(caller.subscription, store.id, 'id'), view)),
      map((file) => jsonReply(file, 201)),
    );

/** GET /vector_store/{id}/files */
export const vectorStoreFiles = (ports: FilePorts): KeyedPipeline =>
  compose(
    readPage, // 400 names the parameter
    withStore(ports), // 400 when there is none
    listFiles(ports),
  );

const listFiles =
  ({ vectorStores }: FilePorts) =>
  ({ store, ...page }: RecordPage & InStore): Observable<WholeReply> =>
    from(vectorStores.files(store, { ...page, limit: page.limit + 1 })).pipe(
      map((views) => views.map((view) => fileJson(store, view))),
      map((files) => jsonReply(listJson(files, page))),
    );

/** GET /vector_store/{id}/files/{fileid} */
export const vectorStoreFile = (ports: FilePorts): KeyedPipeline =>
  inStore(ports, async (store, { fileid = '' }) =>
    jsonReply(fileJson(store, await ports.vectorStores.file(store, fileid, 'fileid'))),
  );

/** DELETE /vector_store/{id}/files/{fileid}: with its items; ingestion is stopped. */
export const vectorStoreFileDelete = (ports: FilePorts): KeyedPipeline =>
  inStore(ports, async (store, { fileid: id = '' }) => {
    await ports.vectorStores.removeFile(store, id);
    return jsonReply({ id, object: 'vector_store.file.deleted', deleted: true });
  });
