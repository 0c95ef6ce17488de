/** Vector stores to be deleted in; nothing of them left out, even where the process dies in between or a file was still on its way in. */
import type { Logger } from 'pino';
import type { VectorStoreFileRecord, VectorStoreRemovalRecord } from '../../schemas/vector-store-records.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import type { Vectors } from '../ports/vectors.ts';
import { blobOf } from './ids.ts';
import { fileKind, removalKind, storeKind } from './records.ts';

export interface RemovalSurroundings {
  readonly state: State;
  readonly vectors: Vectors;
  readonly blobs: Blobs;
  readonly log: Logger;
  /** What still works on the file stops. */
  readonly forget: (file: string) => Promise<void>;
}

export interface RemovalOptions {
  /** Milliseconds between looks for what others left undone. */
  readonly pollMs: number;
  /** Milliseconds after which everything is cleared once more: by then nobody works on a file of it any longer. */
  readonly graceMs: number;
}

const group = 'removal';
const page = 100;

export class Removal {
  readonly #around: RemovalSurroundings;
  readonly #options: RemovalOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> = Promise.resolve();

  constructor(around: RemovalSurroundings, options: RemovalOptions) {
    this.#around = around;
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.pollMs).unref();
  }

  /** Not found by anybody from the start; resolves when what was in it is gone too. */
  async remove(id: string, owner: string): Promise<void> {
    const { state } = this.#around;
    const now = Date.now();
    const value: VectorStoreRemovalRecord = { removed: now };
    await state.create(removalKind, { id, owner, value, index: { group, due: now + this.#options.graceMs } });
    await this.#clear(id);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #clear(id: string): Promise<void> {
    const { state, vectors, blobs, forget } = this.#around;
    await state.remove(storeKind, id);
    for (;;) {
      const files = await state.list<VectorStoreFileRecord>(fileKind, {
        owner: id,
        limit: page,
        order: 'asc',
      });
      for (const { id: file } of files) {
        await state.remove(fileKind, file);
        await forget(file);
        await blobs.remove(blobOf(file));
      }
      if (files.length < page) break;
    }
    await vectors.drop(id);
  }

  #look(): void {
    this.#looking = this.#looking
      .then(() => this.#finish())
      .catch((error) => this.#around.log.warn({ err: error }, 'deleted vector stores could not be cleared'));
  }

  async #finish(): Promise<void> {
    const { state } = this.#around;
    const due: readonly StoredRecord<VectorStoreRemovalRecord>[] = await state.due(removalKind, {
      group,
      until: Date.now(),
      limit: page,
    });
    for (const { id } of due) {
      await this.#clear(id);
      await state.remove(removalKind, id);
    }
  }
}
