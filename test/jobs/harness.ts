/** Runs jobs on a real store and folder with a scripted renderer; records usage and webhooks. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { of, throwError } from 'rxjs';
import type { Test } from 'tap';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { openFolderBlobs } from '../../src/adapters/blobs/folder.ts';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { fail } from '../../src/errors.ts';
import { createJobs, type JobSettings } from '../../src/jobs/jobs.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import type { MusicCall, RenderCall } from '../../src/ports/engines/render.ts';
import type { Jobs, JobType, NewJob } from '../../src/ports/jobs.ts';
import type { State } from '../../src/ports/state.ts';
import { eventually } from '../eventually.ts';
import { noQuotas } from '../no-quotas.ts';
import { ScriptedRenderer } from './scripted-renderer.ts';
import { trustingCodec } from './trusting-codec.ts';

export const owner = 'sub_mine';

const row = (kind: 'video' | 'music', slots: number): Model =>
  resolveRow(`test/${kind}`, {
    kind,
    engine: 'simulator',
    pricing: { completion: '0.02' },
    render_slots: slots,
  });

export const videoModel = row('video', 20);

export interface HarnessOptions extends Partial<JobSettings> {
  readonly state?: State;
  readonly blobs?: Blobs;
  readonly slots?: number;
  /** Whether the catalog is unavailable, and how often it was read meanwhile. */
  readonly list?: { isLost: boolean; asked: number };
}

export interface JobHarness {
  readonly jobs: Jobs;
  readonly state: State;
  readonly blobs: Blobs;
  readonly renderer: ScriptedRenderer;
  readonly charges: UsageEvent[];
  /** `<job>-<ending>` of every notification. */
  readonly notified: string[];
  readonly clock: { now: number };
  /** The journal has no room, so many times. */
  refuseCharges(refusals: { left: number }): void;
  /** Another process, as it were: the same store and files, its own worker. */
  another(options?: HarnessOptions): JobHarness;
}

export const newId = (type: JobType): string => `${type}_${randomBytes(12).toString('hex')}`;

export const videoJob = (change: Partial<NewJob> = {}): NewJob => ({
  id: newId('video'),
  requestId: 'req_1',
  caller: { subscription: owner, key: 'key_1' },
  model: row('video', 1),
  call: {
    type: 'video',
    prompt: 'a tree',
    seconds: 6,
    width: 1344,
    height: 768,
    upscaled: false,
    steps: 4,
    quality: 'turbo',
    audio: true,
    seed: 1,
    startTimeSeconds: undefined,
    inputs: [],
  },
  request: { prompt: 'a tree', duration: 6 },
  billedSeconds: 6,
  expectedMs: 18_000,
  progressive: false,
  callbackUrl: 'https://hooks.example/x',
  ...change,
});

export const musicJob = (change: Partial<NewJob> = {}, call: Partial<MusicCall> = {}): NewJob => {
  const asked: RenderCall = {
    type: 'music',
    prompt: 'a waltz',
    lyrics: undefined,
    seconds: 30,
    n: 1,
    format: 'mp3',
    seed: 1,
    ...call,
  };
  return videoJob({
    id: newId('music'),
    model: row('music', 1),
    call: asked,
    request: { prompt: 'a waltz', duration: 30, n: asked.n },
    billedSeconds: 30,
    progressive: true,
    ...change,
  });
};

export const startHarness = async (t: Test, options: HarnessOptions = {}): Promise<JobHarness> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jobs-'));
  const state = options.state ?? openLibsqlState(join(folder, 'state.db'));
  const log = pino({ level: 'silent' });
  const blobs =
    options.blobs ??
    (await openFolderBlobs({ folder: join(folder, 'blobs'), log, link: async (name) => name }));
  const charges: UsageEvent[] = [];
  const notified: string[] = [];
  const clock = { now: Date.now() };
  let refusals = { left: 0 };
  const refuseCharges = (next: { left: number }): void => {
    refusals = next;
  };
  const closing: (() => Promise<void>)[] = [];

  const open = ({ slots = 1, list, ...settings }: HarnessOptions): JobHarness => {
    const models = [row('video', slots), row('music', slots)];
    const renderer = new ScriptedRenderer();
    const catalog: Catalog = {
      list: () => models,
      inService: () => models,
      resolve: () => {
        throw new Error('not used');
      },
      find: (id) => {
        if (list?.isLost && ++list.asked > 0)
          throw fail('unavailable', 'The list of served models cannot be read');
        return models.find((model) => model.id === id);
      },
      findPublic: () => undefined,
    };
    const jobs = createJobs(
      {
        state,
        blobs,
        codec: trustingCodec,
        catalog,
        engines: { of: () => renderer.engine, health: () => ({}), close: async () => undefined },
        quotas: noQuotas,
        usage: {
          record: (event) => {
            if (refusals.left-- > 0) return throwError(() => fail('unavailable', 'No room for usage'));
            refusals.left = 0;
            charges.push(event);
            return of(undefined);
          },
          ensureOpen: () => undefined,
          close: async () => undefined,
        },
        notify: async ({ job }, ending) => {
          if (job.callback_url !== null) notified.push(`${job.id}-${ending}`);
        },
        publicUrl: () => 'http://gateway/v1',
        log,
      },
      {
        renders: 4,
        keptMs: 3_600_000,
        longestMs: 60_000,
        now: () => clock.now,
        heartbeatMs: 20,
        leaseMs: 15_000,
        pollMs: 20,
        maintenanceMs: 20,
        samplePollMs: 20,
        ...settings,
      },
    );
    closing.push(() => jobs.close());
    return {
      jobs,
      state,
      blobs,
      renderer,
      charges,
      notified,
      clock,
      refuseCharges,
      another: (more = {}) => open({ ...options, ...more }),
    };
  };

  t.teardown(async () => {
    for (const close of closing) await close();
    if (options.blobs === undefined) await blobs.close();
    if (options.state === undefined) await state.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return open(options);
};

export const statusIs = (harness: JobHarness, job: NewJob, status: string) =>
  eventually(async () => {
    const view = await harness.jobs.get(job.call.type, job.id, owner);
    return view.job.status === status && view;
  }, `${job.id} is ${status}`);

export const underWay = (harness: JobHarness, job: NewJob) =>
  eventually(() => {
    const render = harness.renderer.of(job.id);
    return render?.stopped === false && render;
  }, `${job.id} renders`);
