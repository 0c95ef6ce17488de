/** A job this process has claimed in; its render under way out, with signs of life, until it has ended, is taken away or given up. */
import type { Logger } from 'pino';
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engine.ts';
import { outputsOf } from './call.ts';
import { failureOf } from './failure.ts';
import { endJob, type MoveParts, type Outcome } from './moves.ts';
import type { Notices } from './notices.ts';
import { persistently } from './persistently.ts';
import { outputName, produce } from './produce.ts';
import type { Settle } from './settle.ts';
import type { Slot } from './slots.ts';
import type { StoredJob } from './store.ts';
import { advance, isRenderedBy } from './transitions.ts';

export interface RenderingParts extends MoveParts {
  readonly blobs: Blobs;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly settle: Settle;
  readonly notices: Notices;
  readonly log: Logger;
  readonly longestMs: number;
  /** Milliseconds between signs of life, and between looks whether the job is still to be rendered. */
  readonly beatMs: number;
}

/** How long the store may be away while an ending waits for it; past that the job is rendered again. */
const outagesMs = 300_000;

export class Rendering {
  /** What the renderer last said, 0 to 1. */
  done = 0;
  readonly ended: Promise<void>;
  readonly #parts: RenderingParts;
  readonly #slot: Slot;
  readonly #job: JobRecord;
  readonly #stopping = new AbortController();
  #ending = false;

  constructor(parts: RenderingParts, slot: Slot, { value }: StoredJob) {
    this.#parts = parts;
    this.#slot = slot;
    this.#job = value;
    this.ended = this.#run();
  }

  get claim(): string {
    return this.#slot.claim;
  }

  /** The job is no longer to be rendered, or not here. */
  stop(): void {
    this.#stopping.abort();
  }

  /** In good order: another worker begins it again at once. */
  release(): Promise<void> {
    this.stop();
    return this.ended;
  }

  async #run(): Promise<void> {
    const beating = this.#beat();
    let ended: StoredJob | undefined;
    try {
      const outcome = await this.#produce();
      this.#ending = outcome !== undefined;
      if (outcome !== undefined) {
        ended = await persistently(() => endJob(this.#parts, this.#job.id, this.claim, outcome), outagesMs);
        if (ended === undefined) await this.#discardOutputs();
      }
    } catch (error) {
      this.#parts.log.error({ err: error, job: this.#job.id }, 'a render is left for others to begin again');
    }
    this.stop();
    await beating;
    await this.#leave();
    if (ended !== undefined) await this.#settle(ended);
  }

  /** Undefined when it was stopped. */
  async #produce(): Promise<Outcome | undefined> {
    const { blobs, catalog, engines, notices, log, now, keptMs, longestMs } = this.#parts;
    const job = this.#job;
    try {
      const model = catalog.find(job.model);
      if (model === undefined) throw fail('unavailable', `${job.model} is no longer served`);
      return {
        outputs: await produce({
          blobs,
          engine: engines.of(model),
          model,
          job,
          now,
          keptMs,
          longestMs,
          signal: this.#stopping.signal,
          progress: (done) => {
            this.done = Math.min(1, Math.max(this.done, done));
          },
          sampled: () => notices.tell(job, 'samples'),
          samplesLost: (error) =>
            log.warn({ err: error, job: job.id }, 'samples of a song could not be kept for listeners'),
        }),
      };
    } catch (error) {
      await this.#discardOutputs();
      if (this.#stopping.signal.aborted) return undefined;
      log.info({ err: error, job: job.id }, 'a render failed');
      return { failure: failureOf(error) };
    }
  }

  async #settle(ended: StoredJob): Promise<void> {
    this.#parts.notices.tell(ended.value, 'ended');
    try {
      await this.#parts.settle(ended);
    } catch (error) {
      this.#parts.log.warn({ err: error, job: this.#job.id }, 'an ended job is settled later');
    }
  }

  /** Signs of life until the end. */
  async #beat(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await pause(this.#parts.beatMs, signal);
      if (signal.aborted) return;
      try {
        if (!(await this.#slot.renew()) || !(await this.#isWanted())) this.stop();
      } catch (error) {
        // Nobody else can take it while the store is away.
        this.#parts.log.warn({ err: error, job: this.#job.id }, 'a render goes on without the store');
      }
    }
  }

  /** Whether it is still to be rendered by us; tells how far it is. */
  async #isWanted(): Promise<boolean> {
    const { store } = this.#parts;
    if (this.#ending) return true;
    const record = await store.get(this.#job.id);
    if (record === undefined || !isRenderedBy(record.value, this.claim)) return false;
    const next = advance(record.value, this.claim, Math.floor(this.done * 100) / 100);
    if (next !== undefined) await store.move(record, next);
    return true;
  }

  /** A job that is still ours has not ended: others are to begin it again. */
  async #leave(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      const record = await store.get(this.#job.id);
      const isOpen = record !== undefined && isRenderedBy(record.value, this.claim);
      await (isOpen ? this.#slot.release() : this.#slot.free());
    } catch (error) {
      log.warn({ err: error, job: this.#job.id }, 'a slot stays taken until its lease ends');
    }
  }

  async #discardOutputs(): Promise<void> {
    const { blobs, log } = this.#parts;
    try {
      for (let index = 0; index < outputsOf(this.#job); index++)
        await blobs.remove(outputName(this.#job, { index }));
    } catch (error) {
      log.warn({ err: error, job: this.#job.id }, 'outputs that nobody wants go when their time is over');
    }
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
