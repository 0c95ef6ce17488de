/** POST /vector_store/{id}/files: a form with a file in; its record out, completed where the file is small, in progress where it is not. */
import { defer, map, switchMap } from 'rxjs';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { receiveUpload } from './receive-upload.ts';
import { fileJson } from './shapes.ts';

export const vectorStoreAddFile =
  ({
    vectorStores,
    blobs,
    catalog,
    usage,
  }: Pick<Ports, 'vectorStores' | 'blobs' | 'catalog' | 'usage'>): KeyedPipeline =>
  (exchange, caller) =>
    // 400 when there is none
    defer(() => {
      usage.ensureOpen(); // 503 while what it costs could not be kept
      return vectorStores.get(caller.subscription, exchange.params.id ?? '', 'id');
    }).pipe(
      switchMap((store) =>
        // 400 413
        receiveUpload({ blobs }, exchange, catalog.find(store.model)).pipe(
          switchMap((upload) => vectorStores.add(store, upload, caller)), // 400 when it cannot be read
          // The first file may have told how long the vectors are.
          switchMap(async (view) =>
            fileJson(await vectorStores.get(caller.subscription, store.id, 'id'), view),
          ),
          map((file) => jsonReply(file, 201)),
        ),
      ),
    );
