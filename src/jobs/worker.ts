/** The queues of all models in; renders under way out: first come first served per model, models in turn, never more at once than there are slots. */

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { RenderModelRecord } from '../../schemas/jobs.ts';
import { songsOf } from './listen.ts';
import { Rendering, type RenderingParts } from './rendering.ts';
import { forgetSamples } from './sample-store.ts';
import type { Slot, Slots } from './slots.ts';
import type { StoredJob } from './store.ts';
import { failed, start, takeOver } from './transitions.ts';

export interface WorkerSettings {
  /** Renders of this process at once; 0: it leaves them to others. */
  readonly renders: number;
  /** Milliseconds between looks at the queues. */
  readonly pollMs: number;
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
  /** The model that is looked at first: another one each time. */
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
        this.#turn++;
        for (let index = 0; index < models.length && this.#hasRoom(); index++) {
          const model = models[(index + this.#turn) % models.length];
          if (model !== undefined) await this.#fill(model);
        }
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'the queues of renders cannot be looked at now');
      }
    }
  }

  #hasRoom(): boolean {
    return !this.#closed && this.#running.size < this.#settings.renders;
  }

  /** What dead workers left first: it came before anything that waits. */
  async #fill(model: RenderModelRecord): Promise<void> {
    for (const lapsed of await this.#slots.lapsed(model.model, this.#settings.renders)) {
      if (!this.#hasRoom()) return;
      const claim = this.#newClaim();
      const slot = await this.#slots.takeOver(lapsed, claim);
      if (slot !== undefined) await this.#goOn(slot, lapsed.value);
    }
    while (this.#hasRoom()) {
      const first = await this.#parts.store.next(model);
      if (first === undefined) return;
      const slot = await this.#slots.take(model.model, this.#slotsOf(model), first.id, this.#newClaim());
      if (slot === undefined) return;
      await this.#begin(slot, first);
    }
  }

  /** With the job that a dead worker had, however far it came. */
  async #goOn(slot: Slot, from: { job: string; claim: string; released: boolean }): Promise<void> {
    const { store, now, blobs, log } = this.#parts;
    const record = await store.get(from.job);
    if (record?.value.status === 'pending') return this.#begin(slot, record);
    const next = record && takeOver(record.value, from, slot.claim, now());
    const taken = record && next && (await store.move(record, next));
    if (taken === undefined) return slot.free();
    if ((taken.value.lapses ?? 0) > mostLapses) return this.#giveUp(slot, taken);
    log.warn({ job: taken.id, attempt: taken.value.attempts }, 'a render is begun again');
    this.#run(slot, taken);
    if (taken.value.progressive)
      await forgetSamples(blobs, taken.id, taken.value.attempts - 1, songsOf(taken.value));
  }

  async #begin(slot: Slot, record: StoredJob): Promise<void> {
    const next = start(record.value, slot.claim, this.#parts.now());
    const started = next && (await this.#parts.store.move(record, next));
    if (started === undefined) return slot.free();
    this.#run(slot, started);
  }

  #run(slot: Slot, record: StoredJob): void {
    // It may be our own that was late with its signs of life.
    this.stop(record.id);
    const rendering = new Rendering(this.#parts, slot, record);
    this.#running.set(record.id, rendering);
    this.#parts.notices.tell(record.id, 'started');
    void rendering.ended.finally(() => {
      if (this.#running.get(record.id) === rendering) this.#running.delete(record.id);
      this.wake();
    });
  }

  /** A job that takes its workers with it is not tried for ever. */
  async #giveUp(slot: Slot, record: StoredJob): Promise<void> {
    const { store, now, settle, notices } = this.#parts;
    const failure = { code: 'internal_error', message: 'The render was interrupted too often' } as const;
    const next = failed(record.value, slot.claim, failure, now());
    const ended = next && (await store.move(record, next));
    await slot.free();
    if (ended === undefined) return;
    notices.tell(ended.id, 'ended');
    await settle(ended);
  }

  #slotsOf({ model }: RenderModelRecord): number {
    return this.#parts.catalog.find(model)?.render_slots ?? usualSlots;
  }

  #newClaim(): string {
    return `${this.#name}.${++this.#claims}`;
  }
}
