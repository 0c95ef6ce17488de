/** Files of vector stores: added, read, listed and removed. */
import type { Model } from '../../schemas/catalog.ts';
import type {
  IngestionRecord,
  VectorStoreFileRecord,
  VectorStoreRecord,
} from '../../schemas/vector-stores/records.ts';
import { fail } from '../errors.ts';
import { within } from '../helpers/within.ts';
import type { Caller } from '../ports/exchange.ts';
import type { StoredRecord } from '../ports/state.ts';
import type { FileView, RecordPage, Upload, VectorStoreView } from '../ports/vector-stores.ts';
import { type Ingestion, smallBytes } from './ingestion.ts';
import type { IngestionLease } from './lease.ts';
import { absent, blobOf, countFiles, fileIndex, fileKind, storeKind } from './records.ts';
import type { IngestionPorts } from './settle-ingestion.ts';

/** Of a vector store. */
const maxFiles = 10_000;
/** Ids of items in the view of a file. */
const shownItems = 100;
/** Items embedded at once where the model's row does not say, and at most. */
const usualBatch = 128;
const largestBatch = 256;

export class Files {
  readonly #ports: IngestionPorts;
  readonly #ingestion: Ingestion;
  readonly #waitMs: number;

  /** `waitMs`: how long the upload request of a small file waits for its ingestion. */
  constructor(ports: IngestionPorts, ingestion: Ingestion, waitMs: number) {
    this.#ports = ports;
    this.#ingestion = ingestion;
    this.#waitMs = waitMs;
  }

  async counts(store: string): Promise<VectorStoreView['files']> {
    const { state } = this.#ports;
    const [inProgress, completed, failed] = await Promise.all([
      countFiles(state, store, 'in_progress'),
      countFiles(state, store, 'completed'),
      countFiles(state, store, 'failed'),
    ]);
    return { inProgress, completed, failed };
  }

  async get(store: VectorStoreRecord, id: string, field: string): Promise<FileView> {
    return this.#view((await this.#find(store, id, field)).value);
  }

  async list(store: VectorStoreRecord, page: RecordPage): Promise<readonly FileView[]> {
    const query = { owner: store.id, ...page };
    const records = await this.#ports.state.list<VectorStoreFileRecord>(fileKind, query);
    return Promise.all(records.map(({ value }) => this.#view(value)));
  }

  async add(store: VectorStoreRecord, upload: Upload, caller: Caller): Promise<FileView> {
    const { reservation } = upload;
    const file = fileOf(store, upload);
    const lease = await this.#record(store, file, upload, caller).catch(async (error: unknown) => {
      await reservation.release();
      throw error;
    });
    await reservation.kept(upload.bytes);
    const settled = this.#ingestion.begin(lease);
    if (upload.bytes > smallBytes) return { file, items: [] };
    const outcome = await within(this.#waitMs, settled, () => undefined);
    if (outcome === 'gone') throw absent('id', 'vector store', store.id);
    if (typeof outcome === 'object') {
      await this.remove(store, file.id);
      throw fail('invalid_request', `file: ${outcome.unreadable}`);
    }
    return this.get(store, file.id, 'file');
  }

  async #record(
    store: VectorStoreRecord,
    file: VectorStoreFileRecord,
    upload: Upload,
    caller: Caller,
  ): Promise<IngestionLease> {
    const { inProgress, completed, failed } = await this.counts(store.id);
    if (inProgress + completed + failed >= maxFiles)
      throw fail('invalid_request', `id: the vector store has ${maxFiles} files, the most it may have`);
    const model = this.#ports.catalog.find(store.model);
    const lease = await this.#ingestion.claim(ingestionOf(store, upload, caller, model));
    try {
      const record = { id: file.id, owner: store.id, value: file, index: fileIndex(file) };
      await this.#ports.state.create(fileKind, record);
    } catch (error) {
      // Whoever claims the ingestion finds no file record, and removes the upload.
      lease.drop();
      throw error;
    }
    return lease;
  }

  /** With its items, its upload and its ingestion. */
  async remove(store: VectorStoreRecord, id: string): Promise<void> {
    const { state, vectors, blobs, storage } = this.#ports;
    const { value } = await this.#find(store, id, 'fileid');
    if (await state.remove(fileKind, id)) await storage.discount(store.id, value);
    await this.#ingestion.forget(id);
    await vectors.removeFile(store.id, id);
    await blobs.remove(blobOf(id));
  }

  /** One item less; retried when another update was faster. */
  async countDown(id: string): Promise<void> {
    const { state, storage } = this.#ports;
    for (;;) {
      const record = await state.get<VectorStoreFileRecord>(fileKind, id);
      if (record === undefined || record.value.items === 0) return;
      const value = { ...record.value, items: record.value.items - 1 };
      if (!(await state.update(fileKind, id, record.version, { value, index: fileIndex(value) }))) continue;
      const store = await state.get(storeKind, record.owner);
      if (store !== undefined) await storage.countItems(store.owner, -1);
      return;
    }
  }

  async attributes(id: string): Promise<VectorStoreFileRecord['attributes']> {
    const record = await this.#ports.state.get<VectorStoreFileRecord>(fileKind, id);
    return record?.value.attributes ?? {};
  }

  async #find(
    store: VectorStoreRecord,
    id: string,
    field: string,
  ): Promise<StoredRecord<VectorStoreFileRecord>> {
    const record = await this.#ports.state.get<VectorStoreFileRecord>(fileKind, id);
    if (record === undefined || record.owner !== store.id) throw absent(field, 'file', id);
    return record;
  }

  async #view(file: VectorStoreFileRecord): Promise<FileView> {
    if (file.status !== 'completed') return { file, items: [] };
    const page = { limit: shownItems, order: 'asc', file: file.id } as const;
    const items = await this.#ports.vectors.list(file.store, page);
    return { file, items: items.map(({ id }) => id) };
  }
}

const fileOf = (store: VectorStoreRecord, upload: Upload): VectorStoreFileRecord => ({
  id: upload.file,
  store: store.id,
  filename: upload.filename,
  bytes: upload.bytes,
  mediaType: upload.mediaType,
  created: Date.now(),
  status: 'in_progress',
  error: null,
  attributes: upload.attributes,
  chunking: upload.chunking,
  items: 0,
});

const ingestionOf = (
  store: VectorStoreRecord,
  { file, blob, bytes, format }: Upload,
  { subscription, key, tags }: Caller,
  model: Model | undefined,
): IngestionRecord => ({
  file,
  store: store.id,
  subscription,
  key,
  ...(tags === undefined ? {} : { tags: [...tags] }),
  blob,
  bytes,
  format,
  batch: Math.min(model?.capabilities?.embedding?.batch ?? usualBatch, largestBatch),
  done: 0,
  attempts: 0,
});
