/** One render of this process, with heartbeats, until it has ended, is taken over or released. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JobRecord } from '../../schemas/jobs.ts';
import { ApiError, fail, firstLine } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engines/engine.ts';
import { RenderError, type RenderErrorCode } from '../ports/engines/render.ts';
import type { Shared } from '../ports/shared.ts';
import { endJob, type Outcome, type TransitionParts } from './apply-transitions.ts';
import { outputsOf } from './job-record.ts';
import { type OutputCodec, UnusableOutput } from './keep-output.ts';
import type { Notices } from './notices.ts';
import { outputName, produce } from './produce.ts';
import { retryUnavailable } from './retry-unavailable.ts';
import type { Settle } from './settle.ts';
import type { Slot } from './slots.ts';
import type { StoredJob } from './store.ts';
import { advance, type Failure, isRenderedBy } from './transitions.ts';

export interface RenderingParts extends TransitionParts {
  readonly blobs: Blobs;
  readonly codec: Shared<OutputCodec>;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly settle: Settle;
  readonly notices: Notices;
  readonly log: Logger;
  readonly longestMs: number;
  /** Milliseconds between heartbeats, which also check whether the job is still to be rendered. */
  readonly heartbeatMs: number;
}

/** How long the store may be unavailable while an ending waits for it; after that the job is rendered again. */
const maxOutageMs = 300_000;

export class Rendering {
  /** The renderer's last progress, 0 to 1. */
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

  /** The job is not to be rendered any more, or not here. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Another worker restarts it at once. */
  release(): Promise<void> {
    this.stop();
    return this.ended;
  }

  async #run(): Promise<void> {
    const heartbeats = this.#sendHeartbeats();
    let ended: StoredJob | undefined;
    try {
      const outcome = await this.#produce();
      this.#ending = outcome !== undefined;
      if (outcome !== undefined) {
        ended = await retryUnavailable(
          () => endJob(this.#parts, this.#job.id, this.claim, outcome),
          maxOutageMs,
        );
        if (ended === undefined) await this.#discardOutputs();
      }
    } catch (error) {
      this.#parts.log.error(
        { err: error, job: this.#job.id },
        'render abandoned: another worker restarts it',
      );
    }
    this.stop();
    await heartbeats;
    await this.#giveBackSlot();
    if (ended !== undefined) await this.#settle(ended);
  }

  /** Undefined when it was stopped. */
  async #produce(): Promise<Outcome | undefined> {
    const { blobs, codec, catalog, engines, notices, log, now, keptMs, longestMs } = this.#parts;
    const job = this.#job;
    try {
      const model = catalog.find(job.model);
      if (model === undefined) throw fail('unavailable', `${job.model} is no longer served`);
      return {
        outputs: await produce({
          blobs,
          codec,
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
          sampled: () => notices.publish(job, 'samples'),
          samplesLost: (error) => log.warn({ err: error, job: job.id }, 'samples not stored'),
        }),
      };
    } catch (error) {
      await this.#discardOutputs();
      if (this.#stopping.signal.aborted) return undefined;
      const about = { err: error, job: job.id, model: job.model, engine: job.engine };
      // A client cannot do anything about it, the operator can.
      if (error instanceof UnusableOutput) log.warn(about, 'engine output rejected');
      else log.info(about, 'render failed');
      return { failure: failureOf(error) };
    }
  }

  async #settle(ended: StoredJob): Promise<void> {
    this.#parts.notices.publish(ended.value, 'ended');
    try {
      await this.#parts.settle(ended);
    } catch (error) {
      this.#parts.log.warn({ err: error, job: this.#job.id }, 'job not settled: retried later');
    }
  }

  async #sendHeartbeats(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await delay(this.#parts.heartbeatMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (!(await this.#slot.renew()) || !(await this.#isWanted())) this.stop();
      } catch (error) {
        // Nobody else can take it over while the store is unavailable.
        this.#parts.log.warn({ err: error, job: this.#job.id }, 'render heartbeat failed');
      }
    }
  }

  /** Whether it is still to be rendered here; stores the progress. */
  async #isWanted(): Promise<boolean> {
    const { store } = this.#parts;
    if (this.#ending) return true;
    const record = await store.get(this.#job.id);
    if (record === undefined || !isRenderedBy(record.value, this.claim)) return false;
    const next = advance(record.value, this.claim, Math.floor(this.done * 100) / 100);
    if (next !== undefined) await store.update(record, next);
    return true;
  }

  /** A job that is still ours has not ended: another worker restarts it. */
  async #giveBackSlot(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      const record = await store.get(this.#job.id);
      const isOpen = record !== undefined && isRenderedBy(record.value, this.claim);
      await (isOpen ? this.#slot.release() : this.#slot.free());
    } catch (error) {
      log.warn({ err: error, job: this.#job.id }, 'render slot not released');
    }
  }

  async #discardOutputs(): Promise<void> {
    const { blobs, log } = this.#parts;
    try {
      for (let index = 0; index < outputsOf(this.#job); index++)
        await blobs.remove(outputName(this.#job, { index }));
    } catch (error) {
      log.warn({ err: error, job: this.#job.id }, 'outputs not removed: they expire');
    }
  }
}

const codes: Partial<Record<ApiError['kind'], RenderErrorCode>> = {
  timeout: 'timeout',
  engine_unreachable: 'engine_unavailable',
  unavailable: 'engine_unavailable',
  overloaded: 'engine_unavailable',
  rate_limited: 'engine_unavailable',
  invalid_request: 'render_failed',
  unprocessable: 'render_failed',
};

/** What the job shows of an error: nothing of our internals. */
const failureOf = (reason: unknown): Failure => {
  if (reason instanceof RenderError) return { code: reason.code, message: line(reason.message) };
  if (reason instanceof ApiError) {
    const code = codes[reason.kind];
    if (code !== undefined) return { code, message: line(reason.message) };
  }
  return { code: 'internal_error', message: 'The render failed for an internal reason' };
};

const line = (message: string): string => firstLine(message) || 'The render failed';
