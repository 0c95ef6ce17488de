/** Deletes vector stores with all their data, even across crashes and running ingestions. */
import type { Logger } from 'pino';
import type { VectorStoreFileRecord, VectorStoreRemovalRecord } from '../../schemas/vector-stores/records.ts';
import { PollLoop } from '../helpers/poll-loop.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import type { Vectors } from '../ports/vectors.ts';
import { blobOf, fileKind, removalKind, storeKind } from './records.ts';
import type { Storage } from './storage.ts';

interface RemovalPorts {
  readonly state: State;
  readonly vectors: Vectors;
  readonly blobs: Blobs;
  readonly storage: Pick<Storage, 'discount'>;
  readonly log: Logger;
  /** Cancels the ingestion of a file. */
  readonly forget: (file: string) => Promise<void>;
}

interface RemovalOptions {
  /** Milliseconds between polls for removals that nobody finished. */
  readonly pollMs: number;
  /** Milliseconds after which everything is deleted once more: by then no lease on its files is left. */
  readonly graceMs: number;
}

const group = 'removal';
const page = 100;

export class Removal {
  readonly #ports: RemovalPorts;
  readonly #options: RemovalOptions;
  readonly #loop: PollLoop;

  constructor(ports: RemovalPorts, options: RemovalOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#loop = new PollLoop(
      options.pollMs,
      () => this.#finish(),
      (error) => ports.log.warn({ err: error }, 'vector store removal failed'),
    );
  }

  /** The store is not found any more at once; resolves when its data is deleted too. */
  async remove(id: string, owner: string): Promise<void> {
    const { state } = this.#ports;
    const now = Date.now();
    const value: VectorStoreRemovalRecord = { removed: now };
    await state.create(removalKind, { id, owner, value, index: { group, due: now + this.#options.graceMs } });
    await this.#clear(id, owner);
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #clear(id: string, owner: string): Promise<void> {
    const { state, vectors, blobs, storage, forget } = this.#ports;
    await state.remove(storeKind, id);
    for (;;) {
      const files = await state.list<VectorStoreFileRecord>(fileKind, {
        owner: id,
        limit: page,
        order: 'asc',
      });
      for (const { id: file, value } of files) {
        if (await state.remove(fileKind, file)) await storage.discount(id, value, owner);
        await forget(file);
        await blobs.remove(blobOf(file));
      }
      if (files.length < page) break;
    }
    await vectors.drop(id);
  }

  async #finish(): Promise<void> {
    const { state } = this.#ports;
    const due: readonly StoredRecord<VectorStoreRemovalRecord>[] = await state.due(removalKind, {
      group,
      until: Date.now(),
      limit: page,
    });
    for (const { id, owner } of due) {
      await this.#clear(id, owner);
      await state.remove(removalKind, id);
    }
  }
}
