/** Ingests uploads into vector stores, a few at a time, including those that another process did not finish. */
import type { IngestionRecord } from '../../schemas/vector-stores/records.ts';
import { FairQueue, type Waiter } from '../helpers/fair-queue.ts';
import { PollLoop } from '../helpers/poll-loop.ts';
import { Shares } from '../helpers/shares.ts';
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

interface Work extends Waiter<Work> {
  readonly lease: IngestionLease;
  readonly settle: (settled: Settled) => void;
}

/** Files ingested at once, small and large; subscriptions take turns. */
const concurrency = { small: 4, large: 3 } as const;
type LaneName = keyof typeof concurrency;
/** Claimed files of a lane that may wait here; others are left to other processes. */
const maxWaiting = 64;

class Lane {
  readonly waiting = new FairQueue<Work>(maxWaiting);
  readonly running = new Set<Promise<void>>();
  readonly shares: Shares;

  constructor(atOnce: number) {
    this.shares = new Shares(atOnce);
  }
}

export class Ingestion {
  readonly #ports: IngestionPorts;
  readonly #options: IngestionOptions;
  readonly #lanes = { small: new Lane(concurrency.small), large: new Lane(concurrency.large) };
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
    const lane = this.#lanes[laneOf(lease)];
    return new Promise((settle) => {
      const rejected = () => void this.#release(lease).then(() => settle('later'));
      const work: Work = { lease, settle, rejected, subscription: lease.ingestion.subscription };
      if (lane.waiting.enqueue(work)) this.#startNext(lane);
      else rejected();
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
    const lanes = Object.values(this.#lanes);
    for (const { waiting } of lanes)
      for (let work = waiting.first(); work !== undefined; work = waiting.first()) {
        waiting.remove(work);
        work.settle('later');
      }
    await Promise.all([...this.#leases].map((lease) => this.#release(lease)));
    await Promise.all(lanes.flatMap(({ running }) => [...running]));
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

  #startNext(lane: Lane): void {
    const { waiting, running, shares } = lane;
    const work = this.#loop.closed
      ? undefined
      : waiting.find(({ subscription }) => shares.hasRoom(subscription));
    if (work === undefined) return;
    waiting.dequeue(work);
    shares.take(work.subscription);
    const run = this.#run(work).finally(() => {
      shares.give(work.subscription);
      running.delete(run);
      this.#startNext(lane);
    });
    running.add(run);
    this.#startNext(lane);
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
    const { small, large } = this.#lanes;
    const capacity = maxWaiting - Math.max(small.waiting.size, large.waiting.size);
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

const laneOf = ({ ingestion }: IngestionLease): LaneName =>
  ingestion.bytes <= smallBytes ? 'small' : 'large';
