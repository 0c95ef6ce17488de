/** The queues of all models in; renders under way out: first come first served per model, models in turn, never more at once than there are slots. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { RenderModelRecord, SlotRecord } from '../../schemas/jobs.ts';
import type { StoredRecord } from '../ports/state.ts';
import { outputsOf } from './call.ts';
import { beginJob, endJob, goOnWithJob } from './moves.ts';
import { Rendering, type RenderingParts } from './rendering.ts';
import { forgetSamples } from './sample-store.ts';
import type { Slot, Slots } from './slots.ts';
import type { StoredJob } from './store.ts';

export interface WorkerSettings {
  /** Renders of this process at once; 0: it leaves them to others. */
  readonly renders: number;
  /** Milliseconds between looks at the queues. */
  readonly pollMs: number;
  /** Milliseconds that leases last. */
  readonly leaseMs: number;
}

/** Deaths of workers that a job is begun again after. */
const mostLapses = 3;
/** Renders of a model at once, unless its row says otherwise. */
const usualSlots = 2;

export class Worker {
  readonly #parts: RenderingParts;
  readonly #slots: Slots;
  readonly #settings: WorkerSettings;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #running = new Map<string, Rendering>();
  readonly #timer: NodeJS.Timeout | undefined;
  #claims = 0;
  /** After an outage of the store every lease has run out: those who are alive get the time to say so. */
  #patientUntil = 0;
  /** Whose turn it is. */
  #turn = 0;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(parts: RenderingParts, slots: Slots, settings: WorkerSettings) {
    this.#parts = parts;
    this.#slots = slots;
    this.#settings = settings;
    if (settings.renders > 0) {
      this.#timer = setInterval(() => this.wake(), settings.pollMs).unref();
      this.wake();
    }
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#closed || this.#settings.renders === 0) return;
    this.#again = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#again) this.wake(); // asked for as it ended
    });
  }

  /** Stops the render of a job if it is here. */
  stop(job: string): void {
    this.#running.get(job)?.stop();
  }

  /** How far a render of this process is. */
  done(job: string): number | undefined {
    return this.#running.get(job)?.done;
  }

  /** Renders under way. */
  get rendering(): number {
    return this.#running.size;
  }

  /** Renders under way are given back, for others or for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all([...this.#running.values()].map((rendering) => rendering.release()));
  }

  async #look(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        const models = await this.#parts.store.models();
        // What dead workers left first: it came before anything that waits.
        for (const model of models) await this.#takeOverLeft(model);
        await this.#beginInTurn(models);
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'the queues of renders cannot be looked at now');
        this.#patientUntil = this.#parts.now() + this.#settings.leaseMs;
      }
    }
  }

  #hasRoom(): boolean {
    return !this.#closed && this.#running.size < this.#settings.renders;
  }

  async #takeOverLeft(model: RenderModelRecord): Promise<void> {
    if (!this.#hasRoom() || this.#parts.now() < this.#patientUntil) return;
    for (const left of await this.#slots.lapsed(model.model, this.#settings.renders)) {
      this.#slotsOf(model); // throws while nobody can say what is served: a job waits for that, and does not fail
      if (this.#hasRoom()) await this.#takeOver(left);
    }
  }

  /** One of each model after the other, until none has more, or no slot for it. */
  async #beginInTurn(models: readonly RenderModelRecord[]): Promise<void> {
    for (let idle = 0; idle < models.length && this.#hasRoom(); ) {
      const model = models[this.#turn++ % models.length];
      idle = model !== undefined && (await this.#beginNext(model)) ? 0 : idle + 1;
    }
  }

  /** False when there is nothing to begin. */
  async #beginNext(model: RenderModelRecord): Promise<boolean> {
    const first = await this.#parts.store.next(model);
    if (first === undefined) return false;
    const slot = await this.#slots.take(model.model, this.#slotsOf(model), first.id, this.#newClaim());
    if (slot === undefined) return false;
    const begun = await beginJob(this.#parts, first, slot);
    if (begun === undefined) await slot.free();
    else this.#run(slot, begun);
    return true;
  }

  /** What dead workers left, with their slots. */
  async #takeOver(left: StoredRecord<SlotRecord>): Promise<void> {
    // Our own, only late with its sign of life.
    if (this.#running.get(left.value.job)?.claim === left.value.claim) return;
    const { blobs, log } = this.#parts;
    const slot = await this.#slots.takeOver(left, this.#newClaim());
    if (slot === undefined) return;
    const taken = await goOnWithJob(this.#parts, left.value, slot);
    if (taken === undefined) return slot.free();
    const { id, value: job } = taken;
    if ((job.lapses ?? 0) > mostLapses) return this.#giveUp(slot, taken);
    this.#run(slot, taken);
    if (job.attempts === 1) return;
    log.warn({ job: id, attempt: job.attempts }, 'a render is begun again');
    if (job.progressive)
      await forgetSamples(blobs, id, job.attempts - 1, outputsOf(job)).catch((error: unknown) =>
        log.warn({ err: error, job: id }, 'samples that nobody hears go when their time is over'),
      );
  }

  #run(slot: Slot, record: StoredJob): void {
    const rendering = new Rendering(this.#parts, slot, record);
    this.#running.set(record.id, rendering);
    this.#parts.notices.tell(record.value, 'started');
    void rendering.ended.finally(() => {
      if (this.#running.get(record.id) === rendering) this.#running.delete(record.id);
      this.wake();
    });
  }

  /** A job that takes its workers with it is not tried for ever. */
  async #giveUp(slot: Slot, record: StoredJob): Promise<void> {
    const { settle, notices, log } = this.#parts;
    const failure = { code: 'internal_error', message: 'The render was interrupted too often' } as const;
    const ended = await endJob(this.#parts, record.id, slot.claim, { failure });
    await slot.free();
    if (ended === undefined) return;
    notices.tell(ended.value, 'ended');
    await settle(ended).catch((error: unknown) =>
      log.warn({ err: error, job: ended.id }, 'an ended job is settled later'),
    );
  }

  #slotsOf({ model }: RenderModelRecord): number {
    return this.#parts.catalog.find(model)?.render_slots ?? usualSlots;
  }

  #newClaim(): string {
    return `${this.#name}.${++this.#claims}`;
  }
}
