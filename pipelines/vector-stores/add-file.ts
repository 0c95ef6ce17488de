/** POST /vector_store/{id}/files: a form with a file in; its record out, completed where the file is small, in progress where it is not. */
import { defer, map, switchMap } from 'rxjs';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { receiveUpload } from './receive-upload.ts';
import { fileJson } from './shapes.ts';

export const vectorStoreAddFile =
  ({
    collections,
    blobs,
    catalog,
    usage,
  }: Pick<Ports, 'collections' | 'blobs' | 'catalog' | 'usage'>): KeyedPipeline =>
  (exchange, caller) =>
    // 400 when there is none
    defer(() => {
      usage.ensureOpen(); // 503 while what it costs could not be kept
      return collections.get(caller.subscription, exchange.params.id ?? '', 'id');
    }).pipe(
      switchMap((collection) =>
        // 400 413
        receiveUpload({ blobs }, exchange, catalog.find(collection.model)).pipe(
          switchMap((upload) => collections.add(collection, upload, caller)), // 400 when it cannot be read
          // The first file may have told how long the vectors are.
          switchMap(async (view) =>
            fileJson(await collections.get(caller.subscription, collection.id, 'id'), view),
          ),
          map((file) => jsonReply(file, 201)),
        ),
      ),
    );
