/** Starts renders from the queues: first in, first out per model, round-robin over models, limited by slots. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { RenderModelRecord, SlotRecord } from '../../schemas/jobs.ts';
import { PollLoop } from '../helpers/poll-loop.ts';
import type { StoredRecord } from '../ports/state.ts';
import { endJob, resumeJob, startJob } from './apply-transitions.ts';
import { outputsOf } from './job-record.ts';
import { Rendering, type RenderingParts } from './rendering.ts';
import { deleteSamples } from './sample-store.ts';
import type { Slot, Slots } from './slots.ts';
import type { StoredJob } from './store.ts';

interface WorkerSettings {
  /** Renders of this process at once; 0: none. */
  readonly renders: number;
  /** Milliseconds between polls of the queues. */
  readonly pollMs: number;
  /** Milliseconds that leases last. */
  readonly leaseMs: number;
}

/** Expired leases after which a job is still restarted. */
const maxLapses = 3;
/** Renders of a model at once, unless its row says otherwise. */
const defaultSlots = 2;

export class Worker {
  readonly #parts: RenderingParts;
  readonly #slots: Slots;
  readonly #settings: WorkerSettings;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #running = new Map<string, Rendering>();
  readonly #loop: PollLoop | undefined;
  #claims = 0;
  /** After an outage of the store every lease has expired: living workers get time to renew theirs. */
  #graceUntil = 0;
  /** Of the round-robin. */
  #next = 0;
  #closed = false;

  constructor(parts: RenderingParts, slots: Slots, settings: WorkerSettings) {
    this.#parts = parts;
    this.#slots = slots;
    this.#settings = settings;
    if (settings.renders > 0) {
      this.#loop = new PollLoop(
        settings.pollMs,
        () => this.#poll(),
        (error) => {
          parts.log.warn({ err: error }, 'render queue poll failed');
          this.#graceUntil = parts.now() + settings.leaseMs;
        },
      );
      this.wake();
    }
  }

  /** There may be something to do. */
  wake(): void {
    this.#loop?.wake();
  }

  /** Stops the render of a job if it is here. */
  stop(job: string): void {
    this.#running.get(job)?.stop();
  }

  /** Progress of a render of this process. */
  done(job: string): number | undefined {
    return this.#running.get(job)?.done;
  }

  /** Running renders. */
  get rendering(): number {
    return this.#running.size;
  }

  /** Running renders are released, for others or for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#loop?.close();
    await Promise.all([...this.#running.values()].map((rendering) => rendering.release()));
  }

  async #poll(): Promise<void> {
    const models = await this.#parts.store.models();
    // Abandoned jobs first: they came before those that wait.
    for (const model of models) await this.#takeOverLapsed(model);
    await this.#startRoundRobin(models);
  }

  #hasCapacity(): boolean {
    return !this.#closed && this.#running.size < this.#settings.renders;
  }

  async #takeOverLapsed(model: RenderModelRecord): Promise<void> {
    if (!this.#hasCapacity() || this.#parts.now() < this.#graceUntil) return;
    for (const left of await this.#slots.lapsed(model.model, this.#settings.renders)) {
      this.#slotsOf(model); // throws while the catalog is not known: the job waits then, and does not fail
      if (this.#hasCapacity()) await this.#takeOver(left);
    }
  }

  /** One of each model after the other, until no model has a job and a slot for it. */
  async #startRoundRobin(models: readonly RenderModelRecord[]): Promise<void> {
    for (let idle = 0; idle < models.length && this.#hasCapacity(); ) {
      const model = models[this.#next++ % models.length];
      idle = model !== undefined && (await this.#startNext(model)) ? 0 : idle + 1;
    }
  }

  /** False when there is nothing to start. */
  async #startNext(model: RenderModelRecord): Promise<boolean> {
    const first = await this.#parts.store.next(model);
    if (first === undefined) return false;
    const slot = await this.#slots.take(model.model, this.#slotsOf(model), first.id, this.#newClaim());
    if (slot === undefined) return false;
    const started = await startJob(this.#parts, first, slot);
    if (started === undefined) await slot.free();
    else this.#run(slot, started);
    return true;
  }

  /** A slot whose worker died, with its job. */
  async #takeOver(left: StoredRecord<SlotRecord>): Promise<void> {
    // Our own, only late with its heartbeat.
    if (this.#running.get(left.value.job)?.claim === left.value.claim) return;
    const { blobs, log } = this.#parts;
    const slot = await this.#slots.takeOver(left, this.#newClaim());
    if (slot === undefined) return;
    const taken = await resumeJob(this.#parts, left.value, slot);
    if (taken === undefined) return slot.free();
    const { id, value: job } = taken;
    if ((job.lapses ?? 0) > maxLapses) return this.#giveUp(slot, taken);
    this.#run(slot, taken);
    if (job.attempts === 1) return;
    log.warn({ job: id, attempt: job.attempts }, 'render restarted');
    if (job.progressive)
      await deleteSamples(blobs, id, job.attempts - 1, outputsOf(job)).catch((error: unknown) =>
        log.warn({ err: error, job: id }, 'samples not deleted: they expire'),
      );
  }

  #run(slot: Slot, record: StoredJob): void {
    const rendering = new Rendering(this.#parts, slot, record);
    this.#running.set(record.id, rendering);
    this.#parts.notices.publish(record.value, 'started');
    void rendering.ended.finally(() => {
      if (this.#running.get(record.id) === rendering) this.#running.delete(record.id);
      this.wake();
    });
  }

  /** A job that kills its workers is not restarted forever. */
  async #giveUp(slot: Slot, record: StoredJob): Promise<void> {
    const { settle, notices, log } = this.#parts;
    const failure = { code: 'internal_error', message: 'The render was interrupted too often' } as const;
    const ended = await endJob(this.#parts, record.id, slot.claim, { failure });
    await slot.free();
    if (ended === undefined) return;
    notices.publish(ended.value, 'ended');
    await settle(ended).catch((error: unknown) =>
      log.warn({ err: error, job: ended.id }, 'job not settled: retried later'),
    );
  }

  #slotsOf({ model }: RenderModelRecord): number {
    return this.#parts.catalog.find(model)?.render_slots ?? defaultSlots;
  }

  #newClaim(): string {
    return `${this.#name}.${++this.#claims}`;
  }
}
