/** Runs vector stores on embedded storage with a test embedding model, several per folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openFolderBlobs } from '../../src/adapters/blobs/folder.ts';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { openLibsqlVectors } from '../../src/adapters/vectors/libsql.ts';
import { createOffload } from '../../src/offload/offload.ts';
import type { StoredRecord } from '../../src/ports/state.ts';
import type { FileView, Upload, VectorStores } from '../../src/ports/vector-stores.ts';
import { embedText } from '../../src/simulator/embeddings/embed-text.ts';
import type { Embed, EmbedBatch } from '../../src/vector-stores/ingest-file.ts';
import { blobOf, newFileId } from '../../src/vector-stores/records.ts';
import { createVectorStores, type VectorStoresOptions } from '../../src/vector-stores/vector-stores.ts';
import { model as modelOf } from '../chat/fixtures.ts';
import { eventually } from '../eventually.ts';

export const caller = { subscription: 'sub_test', key: 'key_test' };

export const dimensions = 64;
/** Items of a batch. */
export const batch = 8;

const model = modelOf({
  id: 'test/embed',
  kind: 'embedding',
  tokenizer: 'simulator',
  context_length: 8192,
  capabilities: { embedding: { dimensions, batch } },
});

export const embedding = (text: string): Float32Array => embedText(text, { dimensions, nested: false });

/** The lease is long: a machine that is busy must not lose one. */
const fast: Partial<VectorStoresOptions> = { leaseMs: 20_000, pollMs: 20, retryMs: 20, waitMs: 20_000 };

export interface Harness {
  readonly vectorStores: VectorStores;
  readonly batches: readonly EmbedBatch[];
  /** What is done before a batch is answered: waiting, or failing. */
  before: (batch: EmbedBatch) => Promise<void> | void;
  /** As if the process had died: nothing that it does reaches the stores any more. */
  crash(): void;
}

export const openStorage = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-vector-stores-'));
  const log = pino({ level: 'silent' });
  const state = openLibsqlState(join(folder, 'state.db'));
  const vectors = openLibsqlVectors(join(folder, 'vectors.db'));
  const link = async () => '';
  const blobs = await openFolderBlobs({ folder: join(folder, 'blobs'), log, link });
  const offload = createOffload();
  const open = (
    t: { teardown(end: () => Promise<void>): void },
    options: Partial<VectorStoresOptions> = {},
  ): Harness => {
    let crashed = false;
    const batches: EmbedBatch[] = [];
    const embed: Embed = async (asked) => {
      batches.push(asked);
      await Promise.race([harness.before(asked), aborted(asked.signal)]);
      return asked.texts.map(embedding);
    };
    const crashable = <T extends object>(part: T): T =>
      new Proxy(part, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return crashed ? () => new Promise(() => undefined) : value.bind(target);
        },
      });
    const vectorStores = createVectorStores(
      {
        state: crashable(state),
        vectors: crashable(vectors),
        blobs: crashable(blobs),
        offload,
        catalog: { find: () => model },
        embed,
        log,
      },
      { ...fast, ...options },
    );
    t.teardown(() => Promise.race([vectorStores.close(), after(crashed ? 0 : 5000)]));
    const harness: Harness = {
      vectorStores,
      batches,
      before: () => undefined,
      crash: () => {
        crashed = true;
      },
    };
    return harness;
  };

  return {
    open,
    state,
    vectors,
    blobs,
    newStore: async ({ vectorStores }: Harness) => {
      const made = { name: null, description: null, metadata: {}, model };
      return (await vectorStores.create(caller.subscription, made)).store;
    },
    /** The text as an upload that is safe already. */
    upload: async (content: string, filename = 'notes.txt'): Promise<Upload> => {
      const file = newFileId();
      const bytes = Buffer.from(content);
      await blobs.put(blobOf(file), bytes, { mediaType: 'text/plain' });
      return {
        file,
        blob: blobOf(file),
        filename,
        bytes: bytes.length,
        mediaType: 'text/plain',
        format: { kind: 'text', encoding: 'utf-8' },
        chunking: { maxTokens: 100, overlapTokens: 0 },
        attributes: {},
        reservation: { kept: async () => undefined, release: async () => undefined },
      };
    },
    /** Records that are kept of a vector store, its files, and the work on them. */
    left: async (store: string): Promise<readonly string[]> => {
      const found: StoredRecord<unknown>[] = [];
      for (const kind of ['vector-store', 'vector-store-file', 'ingestion', 'vector-store-removal'])
        found.push(...(await state.list(kind, { limit: 1000, order: 'asc' })));
      return found.filter(({ id, owner }) => id === store || owner === store).map(({ id }) => id);
    },
    close: async () => {
      await Promise.all([offload.close(), blobs.close(), vectors.close(), state.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const after = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

export const ended = (
  { vectorStores }: Harness,
  store: Awaited<ReturnType<VectorStores['get']>>,
  id: string,
): Promise<FileView> =>
  eventually(async () => {
    const view = await vectorStores.file(store, id, 'fileid');
    return view.file.status !== 'in_progress' && view;
  }, `the end of ${id}`);
