/** Uploads in; files of their vector stores out, a few at a time: begun here, or taken up where another process left off. */
import type { Logger } from 'pino';
import type {
  CollectionFileRecord,
  FileErrorCode,
  IngestionRecord,
} from '../../schemas/vector-store-records.ts';
import { exponentialBackoff } from '../backoff.ts';
import { ApiError, firstLine } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { StoredRecord } from '../ports/state.ts';
import { Hold, ingestionGroup, ingestionKind, LostHold } from './hold.ts';
import { type Ingested, ingestFile, type Surroundings } from './ingest-file.ts';
import { UnreadableFile } from './read-items.ts';
import { collectionKind, fileIndex, fileKind } from './records.ts';

export interface IngestionSurroundings extends Surroundings {
  readonly blobs: Blobs;
  readonly log: Logger;
}

export interface IngestionOptions {
  /** Milliseconds after which work that is not renewed may be taken up by others. */
  readonly leaseMs: number;
  /** Milliseconds between looks for work that others left. */
  readonly pollMs: number;
  /** Milliseconds before the second attempt; each further one waits twice as long. */
  readonly retryMs: number;
}

/** Up to this size a file is small: the request that brings it waits for it. */
export const smallBytes = 1024 * 1024;

/** `later`: it could not be finished now, and will be tried again. */
export type Settled = Ingested | 'later' | { readonly unreadable: string };

interface Work {
  readonly hold: Hold;
  readonly settle: (settled: Settled) => void;
}

/** Files at once, small and large. */
const widths = { small: 4, large: 2 } as const;
type Lane = keyof typeof widths;
/** Claimed files of a lane that may wait here; more stay for whoever has room. */
const maxWaiting = 64;
const maxAttempts = 12;
const longestWait = 5 * 60_000;

export class Ingestion {
  readonly #around: IngestionSurroundings;
  readonly #options: IngestionOptions;
  readonly #waiting: Record<Lane, Work[]> = { small: [], large: [] };
  readonly #running = new Map<Lane, Set<Promise<void>>>([
    ['small', new Set()],
    ['large', new Set()],
  ]);
  readonly #held = new Set<Hold>();
  readonly #timers: NodeJS.Timeout[];
  #looking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(around: IngestionSurroundings, options: IngestionOptions) {
    this.#around = around;
    this.#options = options;
    this.#timers = [
      setInterval(() => this.#look(), options.pollMs).unref(),
      setInterval(() => this.#renew(), options.leaseMs / 3).unref(),
    ];
    this.#look();
  }

  /** Before anything else knows of the file: resolves when it is this process's to ingest. */
  async claim(ingestion: IngestionRecord): Promise<Hold> {
    const index = { group: ingestionGroup, due: Date.now() + this.#options.leaseMs };
    const { file: id, collection: owner } = ingestion;
    await this.#around.state.create(ingestionKind, { id, owner, value: ingestion, index });
    return this.#keep({ id, owner, version: 1, value: ingestion });
  }

  /** Resolves when it has ended, or will be tried again later. */
  async begin(hold: Hold): Promise<Settled> {
    const waiting = this.#waiting[laneOf(hold)];
    if (waiting.length >= maxWaiting) {
      await this.#handOver(hold);
      return 'later';
    }
    return new Promise((settle) => {
      waiting.push({ hold, settle });
      this.#startNext();
    });
  }

  /** It is not wanted any more: what works on it here stops; what works on it elsewhere will find out. */
  async forget(file: string): Promise<void> {
    await this.#around.state.remove(ingestionKind, file);
    for (const hold of this.#held) if (hold.ingestion.file === file) hold.drop();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#looking;
    for (const lane of Object.values(this.#waiting)) for (const { settle } of lane.splice(0)) settle('later');
    await Promise.all([...this.#held].map((hold) => this.#handOver(hold)));
    await Promise.all([...this.#running.values()].flatMap((runs) => [...runs]));
  }

  /** Where that fails, the lease ends by itself. */
  async #handOver(hold: Hold): Promise<void> {
    try {
      await hold.release({}, 0);
    } catch (error) {
      hold.drop();
      if (!(error instanceof LostHold)) this.#warn(error, hold, 'an upload could not be handed over');
    }
  }

  #keep(record: StoredRecord<IngestionRecord>): Hold {
    const hold = new Hold(this.#around.state, record, this.#options.leaseMs);
    this.#held.add(hold);
    hold.signal.addEventListener('abort', () => this.#held.delete(hold), { once: true });
    return hold;
  }

  #startNext(): void {
    for (const [lane, runs] of this.#running) {
      while (!this.#closed && runs.size < widths[lane]) {
        const work = this.#waiting[lane].shift();
        if (work === undefined) break;
        const run = this.#run(work).finally(() => {
          runs.delete(run);
          this.#startNext();
        });
        runs.add(run);
      }
    }
  }

  async #run({ hold, settle }: Work): Promise<void> {
    try {
      settle(await this.#ingest(hold));
    } catch (error) {
      // The lease ends by itself, and then somebody tries again.
      if (!(error instanceof LostHold)) this.#warn(error, hold, 'an upload was left for later');
      hold.drop();
      settle('later');
    }
  }

  async #ingest(hold: Hold): Promise<Settled> {
    try {
      const ingested = await ingestFile(this.#around, hold);
      await (ingested === 'gone' ? this.#clear(hold) : this.#end(hold));
      return ingested;
    } catch (error) {
      if (hold.signal.aborted) return this.#lost(hold);
      if (error instanceof UnreadableFile) {
        await this.#fail(hold, 'invalid_file', error.message);
        return { unreadable: error.message };
      }
      return this.#postpone(hold, error);
    }
  }

  /** Handed over to another process, or its file was deleted: then what was on its way into the store must go too. */
  async #lost(hold: Hold): Promise<Settled> {
    const { state } = this.#around;
    const { file, collection } = hold.ingestion;
    if ((await state.get(ingestionKind, file)) !== undefined) return 'later';
    if ((await state.get(fileKind, file)) !== undefined) return 'completed';
    await this.#unstore(collection, file);
    return 'gone';
  }

  async #end(hold: Hold): Promise<void> {
    await this.#around.blobs.remove(hold.ingestion.blob);
    await hold.finish();
  }

  /** Nothing is left of a file whose record, or whose collection, is gone. */
  async #clear(hold: Hold): Promise<void> {
    const { file, collection } = hold.ingestion;
    await this.#unstore(collection, file);
    await this.#around.state.remove(fileKind, file);
    await this.#end(hold);
  }

  async #unstore(collection: string, file: string): Promise<void> {
    const { state, vectors } = this.#around;
    if ((await state.get(collectionKind, collection)) === undefined) await vectors.drop(collection);
    else await vectors.removeFile(collection, file);
  }

  async #fail(hold: Hold, code: FileErrorCode, message: string): Promise<void> {
    const { state, vectors } = this.#around;
    const { file: id, collection } = hold.ingestion;
    await vectors.removeFile(collection, id);
    const record = await state.get<CollectionFileRecord>(fileKind, id);
    if (record !== undefined) {
      const value: CollectionFileRecord = { ...record.value, status: 'failed', error: { code, message } };
      await state.update(fileKind, id, record.version, { value, index: fileIndex(value) });
    }
    await this.#end(hold);
  }

  async #postpone(hold: Hold, error: unknown): Promise<Settled> {
    // Waiting for a turn is no failure.
    const waits = error instanceof ApiError && error.kind === 'rate_limited';
    const attempts = hold.ingestion.attempts + (waits ? 0 : 1);
    this.#warn(error, hold, 'an upload is tried again later');
    if (attempts >= maxAttempts) {
      const message = error instanceof ApiError ? firstLine(error.message) : 'The file could not be added';
      await this.#fail(hold, 'server_error', message);
      return 'completed';
    }
    const wait = waits
      ? Number(error.headers['retry-after'] ?? 1) * 1000
      : exponentialBackoff({ first: this.#options.retryMs, most: longestWait })(attempts);
    await hold.release({ attempts }, wait);
    return 'later';
  }

  #renew(): void {
    for (const hold of this.#held)
      hold.save().catch((error) => {
        if (!(error instanceof LostHold)) this.#warn(error, hold, 'a lease was not renewed');
      });
  }

  /** One look at a time. */
  #look(): void {
    this.#looking = this.#looking
      .then(() => this.#takeUp())
      .catch((error) => this.#around.log.warn({ err: error }, 'uploads could not be looked for'));
  }

  async #takeUp(): Promise<void> {
    const room = maxWaiting - Math.max(this.#waiting.small.length, this.#waiting.large.length);
    if (this.#closed || room <= 0) return;
    const { state } = this.#around;
    const found = await state.due<IngestionRecord>(ingestionKind, {
      group: ingestionGroup,
      until: Date.now(),
      limit: room,
    });
    for (const record of found) {
      const { id, version, value } = record;
      const index = { group: ingestionGroup, due: Date.now() + this.#options.leaseMs };
      if (this.#closed || !(await state.update(ingestionKind, id, version, { value, index }))) continue;
      void this.begin(this.#keep({ ...record, version: version + 1 }));
    }
  }

  #warn(error: unknown, { ingestion: { file, collection } }: Hold, message: string): void {
    this.#around.log.warn({ err: error, file, collection }, message);
  }
}

const laneOf = ({ ingestion }: Hold): Lane => (ingestion.bytes <= smallBytes ? 'small' : 'large');
