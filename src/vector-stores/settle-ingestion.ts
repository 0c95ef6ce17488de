/** Ingests one file and records the outcome: completed, failed, deleted meanwhile, or to be retried. */

import type { Logger } from 'pino';
import type { FileErrorCode, VectorStoreFileRecord } from '../../schemas/vector-stores/records.ts';
import { ApiError, firstLine } from '../errors.ts';
import { exponentialBackoff } from '../helpers/backoff.ts';
import type { Blobs } from '../ports/blobs.ts';
import { type Ingested, type IngestFilePorts, ingestFile } from './ingest-file.ts';
import { type IngestionLease, ingestionKind } from './lease.ts';
import { UnreadableFile } from './read-items.ts';
import { fileIndex, fileKind, storeKind } from './records.ts';

export interface IngestionPorts extends IngestFilePorts {
  readonly blobs: Blobs;
  readonly log: Logger;
}

/** `later`: it could not be finished now, and will be tried again. */
export type Settled = Ingested | 'later' | { readonly unreadable: string };

const maxAttempts = 12;
const maxBackoffMs = 5 * 60_000;

/** `retryMs` is the backoff before the second attempt; it doubles with each further one. */
export const settleIngestion = async (
  ports: IngestionPorts,
  lease: IngestionLease,
  retryMs: number,
): Promise<Settled> => {
  try {
    const ingested = await ingestFile(ports, lease);
    await (ingested === 'gone' ? clear(ports, lease) : finish(ports, lease));
    return ingested;
  } catch (error) {
    if (lease.signal.aborted) return settleLost(ports, lease);
    if (error instanceof UnreadableFile) {
      await fail(ports, lease, 'invalid_file', error.message);
      return { unreadable: error.message };
    }
    return retryLater(ports, lease, retryMs, error);
  }
};

/** The lease went to another process, or the file was deleted: then its items must be removed too. */
const settleLost = async (ports: IngestionPorts, { ingestion }: IngestionLease): Promise<Settled> => {
  const { state } = ports;
  const { file, store } = ingestion;
  if ((await state.get(ingestionKind, file)) !== undefined) return 'later';
  if ((await state.get(fileKind, file)) !== undefined) return 'completed';
  await removeItems(ports, store, file);
  return 'gone';
};

const finish = async ({ blobs }: IngestionPorts, lease: IngestionLease): Promise<void> => {
  await blobs.remove(lease.ingestion.blob);
  await lease.finish();
};

/** Removes everything of a file whose record, or whose vector store, was deleted. */
const clear = async (ports: IngestionPorts, lease: IngestionLease): Promise<void> => {
  const { file, store } = lease.ingestion;
  await removeItems(ports, store, file);
  const record = await ports.state.get<VectorStoreFileRecord>(fileKind, file);
  if (record !== undefined && (await ports.state.remove(fileKind, file)))
    await ports.storage.discount(store, record.value, lease.ingestion.subscription);
  await finish(ports, lease);
};

const removeItems = async (
  { state, vectors }: IngestionPorts,
  store: string,
  file: string,
): Promise<void> => {
  if ((await state.get(storeKind, store)) === undefined) await vectors.drop(store);
  else await vectors.removeFile(store, file);
};

const fail = async (
  ports: IngestionPorts,
  lease: IngestionLease,
  code: FileErrorCode,
  message: string,
): Promise<void> => {
  const { state, vectors } = ports;
  const { file: id, store } = lease.ingestion;
  await vectors.removeFile(store, id);
  const record = await state.get<VectorStoreFileRecord>(fileKind, id);
  if (record !== undefined) {
    const value: VectorStoreFileRecord = { ...record.value, status: 'failed', error: { code, message } };
    await state.update(fileKind, id, record.version, { value, index: fileIndex(value) });
  }
  await finish(ports, lease);
};

const retryLater = async (
  ports: IngestionPorts,
  lease: IngestionLease,
  retryMs: number,
  error: unknown,
): Promise<Settled> => {
  // Waiting for the rate limit is no failure.
  const waits = error instanceof ApiError && error.kind === 'rate_limited';
  const { file, store } = lease.ingestion;
  const attempts = lease.ingestion.attempts + (waits ? 0 : 1);
  ports.log.warn({ err: error, file, store, attempts }, 'ingestion attempt failed');
  if (attempts >= maxAttempts) {
    const message = error instanceof ApiError ? firstLine(error.message) : 'The file could not be added';
    await fail(ports, lease, 'server_error', message);
    return 'completed';
  }
  const delay = waits
    ? Number(error.headers['retry-after'] ?? 1) * 1000
    : exponentialBackoff({ first: retryMs, most: maxBackoffMs })(attempts);
  await lease.release({ attempts }, delay);
  return 'later';
};
