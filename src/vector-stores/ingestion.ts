/** Ingests uploads into vector stores, a few at a time, including those that another process did not finish. */
import type { IngestionRecord } from '../../schemas/vector-store-records.ts';
import { PollLoop } from '../poll-loop.ts';
import type { StoredRecord } from '../ports/state.ts';
import { IngestionLease, ingestionGroup, ingestionKind, LeaseLost } from './lease.ts';
import { type IngestionPorts, type Settled, settleIngestion } from './settle-ingestion.ts';

export interface IngestionOptions {
  /** Milliseconds after which an ingestion whose lease is not renewed may be claimed by others. */
  readonly leaseMs: number;
  /** Milliseconds between polls for ingestions that nobody works on. */
  readonly pollMs: number;
  /** Milliseconds before the second attempt; doubled for each further one. */
  readonly retryMs: number;
}

/** Up to this size a file is small: its upload request waits for the ingestion. */
export const smallBytes = 1024 * 1024;

interface Work {
  readonly lease: IngestionLease;
  readonly settle: (settled: Settled) => void;
}

/** Files ingested at once, small and large. */
const concurrency = { small: 4, large: 2 } as const;
type Lane = keyof typeof concurrency;
/** Claimed files of a lane that may wait here; others are left to other processes. */
const maxWaiting = 64;

export class Ingestion {
  readonly #ports: IngestionPorts;
  readonly #options: IngestionOptions;
  readonly #waiting: Record<Lane, Work[]> = { small: [], large: [] };
  readonly #running = new Map<Lane, Set<Promise<void>>>([
    ['small', new Set()],
    ['large', new Set()],
  ]);
  readonly #leases = new Set<IngestionLease>();
  readonly #renewals: NodeJS.Timeout;
  readonly #loop: PollLoop;

  constructor(ports: IngestionPorts, options: IngestionOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#renewals = setInterval(() => this.#renew(), options.leaseMs / 3).unref();
    this.#loop = new PollLoop(
      options.pollMs,
      () => this.#claimDue(),
      (error) => ports.log.warn({ err: error }, 'ingestion poll failed'),
    );
    this.#loop.wake();
  }

  /** Called before the file's record is created; resolves when this process has the lease. */
  async claim(ingestion: IngestionRecord): Promise<IngestionLease> {
    const index = { group: ingestionGroup, due: Date.now() + this.#options.leaseMs };
    const { file: id, store: owner } = ingestion;
    await this.#ports.state.create(ingestionKind, { id, owner, value: ingestion, index });
    return this.#newLease({ id, owner, version: 1, value: ingestion });
  }

  /** Resolves when the file is settled, or will be tried again later. */
  async begin(lease: IngestionLease): Promise<Settled> {
    const waiting = this.#waiting[laneOf(lease)];
    if (waiting.length >= maxWaiting) {
      await this.#release(lease);
      return 'later';
    }
    return new Promise((settle) => {
      waiting.push({ lease, settle });
      this.#startNext();
    });
  }

  /** Cancels an ingestion: at once in this process; others notice when they renew their lease. */
  async forget(file: string): Promise<void> {
    await this.#ports.state.remove(ingestionKind, file);
    for (const lease of this.#leases) if (lease.ingestion.file === file) lease.drop();
  }

  async close(): Promise<void> {
    clearInterval(this.#renewals);
    await this.#loop.close();
    for (const lane of Object.values(this.#waiting)) for (const { settle } of lane.splice(0)) settle('later');
    await Promise.all([...this.#leases].map((lease) => this.#release(lease)));
    await Promise.all([...this.#running.values()].flatMap((runs) => [...runs]));
  }

  /** Where that fails, the lease expires. */
  async #release(lease: IngestionLease): Promise<void> {
    try {
      await lease.release({}, 0);
    } catch (error) {
      lease.drop();
      if (!(error instanceof LeaseLost)) this.#warn(error, lease, 'ingestion lease not released');
    }
  }

  #newLease(record: StoredRecord<IngestionRecord>): IngestionLease {
    const lease = new IngestionLease(this.#ports.state, record, this.#options.leaseMs);
    this.#leases.add(lease);
    lease.signal.addEventListener('abort', () => this.#leases.delete(lease), { once: true });
    return lease;
  }

  #startNext(): void {
    for (const [lane, runs] of this.#running) {
      while (!this.#loop.closed && runs.size < concurrency[lane]) {
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

  async #run({ lease, settle }: Work): Promise<void> {
    try {
      settle(await settleIngestion(this.#ports, lease, this.#options.retryMs));
    } catch (error) {
      // Once the lease has expired, any process tries again.
      if (!(error instanceof LeaseLost)) this.#warn(error, lease, 'ingestion not settled');
      lease.drop();
      settle('later');
    }
  }

  #renew(): void {
    for (const lease of this.#leases)
      lease.save().catch((error) => {
        if (!(error instanceof LeaseLost)) this.#warn(error, lease, 'ingestion lease not renewed');
      });
  }

  async #claimDue(): Promise<void> {
    const capacity = maxWaiting - Math.max(this.#waiting.small.length, this.#waiting.large.length);
    if (this.#loop.closed || capacity <= 0) return;
    const { state } = this.#ports;
    const found = await state.due<IngestionRecord>(ingestionKind, {
      group: ingestionGroup,
      until: Date.now(),
      limit: capacity,
    });
    for (const record of found) {
      const { id, version, value } = record;
      const index = { group: ingestionGroup, due: Date.now() + this.#options.leaseMs };
      if (this.#loop.closed || !(await state.update(ingestionKind, id, version, { value, index }))) continue;
      void this.begin(this.#newLease({ ...record, version: version + 1 }));
    }
  }

  #warn(error: unknown, { ingestion: { file, store } }: IngestionLease, message: string): void {
    this.#ports.log.warn({ err: error, file, store }, message);
  }
}

const laneOf = ({ ingestion }: IngestionLease): Lane => (ingestion.bytes <= smallBytes ? 'small' : 'large');
