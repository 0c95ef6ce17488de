/** Tests that every interleaving of job operations gives one ending, one delivery, at most one charge. */
import { pino } from 'pino';
import { of } from 'rxjs';
import t from 'tap';
import type { JobRecord } from '../../schemas/jobs.ts';
import { ApiError } from '../../src/errors.ts';
import {
  cancelJob,
  deleteJob,
  endJob,
  type Outcome,
  resumeJob,
  startJob,
} from '../../src/jobs/apply-transitions.ts';
import { runMaintenance } from '../../src/jobs/maintenance.ts';
import { Notices } from '../../src/jobs/notices.ts';
import { createSettle } from '../../src/jobs/settle.ts';
import { createSlots } from '../../src/jobs/slots.ts';
import { JobStore } from '../../src/jobs/store.ts';
import { advance, endingOf } from '../../src/jobs/transitions.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { State } from '../../src/ports/state.ts';
import { Deliveries } from '../../src/webhooks/deliveries.ts';
import { createNotify } from '../../src/webhooks/webhooks.ts';
import { onlyLong } from '../long.ts';
import { noQuotas } from '../no-quotas.ts';
import { type Actor, explore, type World } from './explore-interleavings.ts';

const id = 'video_0123456789abcdef01234567';
const model = 'test/video';
const keptMs = 1_000_000;
const leaseMs = 1_000;
/** Times of the actors: those who come late see leases run out, settling overdue, outputs expired. */
const [early, late, afterExpiry] = [1_000, 100_000, 3_000_000];
const log = pino({ level: 'silent' });
const blobs = { remove: async () => undefined, stat: async () => undefined } as Partial<Blobs> as Blobs;

const pending = (): JobRecord => ({
  id,
  type: 'video',
  subscription: 'sub',
  key: 'key',
  request_id: 'req',
  model,
  status: 'pending',
  created: 0,
  started: null,
  ended: null,
  expires: null,
  expected_ms: 1,
  done: 0,
  call: {},
  request: {},
  billed_seconds: 6,
  price: { completion: '0.5' },
  cost: null,
  progressive: false,
  outputs: [],
  error: null,
  error_code: null,
  callback_url: 'https://hooks.example/',
  attempts: 0,
  worker: null,
  queued: 0,
  moved: 0,
  engine: 'e',
  public_url: 'https://x/v1',
});

const done: Outcome = {
  outputs: [{ index: 0, blob: 'b', media_type: 'video/mp4', size_bytes: 1, duration: 6 }],
};
const broken: Outcome = { failure: { code: 'render_failed', message: 'no' } };

/** Everything an actor does is this, over the store it is given. */
const partsOf = (state: State, charges: string[], time: number) => {
  const now = () => time;
  const store = new JobStore(state);
  const deliveries = new Deliveries(state, now);
  const notify = createNotify({
    deliveries,
    recordOf: ({ job }) => ({ id: job.id, status: job.status }),
    publicUrl: () => '',
    added: () => undefined,
  });
  const usage = {
    record: (event: { id: string; cost: string }) => {
      charges.push(`${event.id} ${event.cost}`);
      return of(undefined);
    },
    ensureOpen: () => undefined,
    close: async () => undefined,
  };
  const settle = createSettle({ store, blobs, usage, quotas: noQuotas, notify });
  const slots = createSlots(state, { now, leaseMs });
  return { store, now, keptMs, settle, slots, deliveries, blobs, log, notices: new Notices() };
};
type Parts = ReturnType<typeof partsOf>;

/** What a worker does, from the queue to the end. */
const work = async (
  { slots, ...parts }: Parts,
  claim: string,
  outcome: Outcome,
  slowly = false,
): Promise<void> => {
  const first = await parts.store.next({ type: 'video', model });
  const slot = first && (await slots.take(model, 1, first.id, claim));
  if (first === undefined || slot === undefined) return;
  const begun = await startJob(parts, first, slot);
  if (begun === undefined) return slot.free();
  if (slowly) {
    const advanced = advance(begun.value, claim, 0.5);
    if (advanced) await parts.store.update(begun, advanced);
  }
  const ended = await endJob(parts, id, claim, outcome);
  await slot.free();
  if (ended !== undefined) await parts.settle(ended);
};

/** What a worker does with what another left. */
const takeOver = async ({ slots, ...parts }: Parts, claim: string, outcome: Outcome): Promise<void> => {
  for (const left of await slots.lapsed(model, 1)) {
    const slot = await slots.takeOver(left, claim);
    if (slot === undefined) continue;
    const taken = await resumeJob(parts, left.value, slot);
    const ended = taken && (await endJob(parts, id, claim, outcome));
    await slot.free();
    if (ended !== undefined) await parts.settle(ended);
  }
};

const remove = async (parts: Parts): Promise<void> => {
  const record = await parts.store.get(id);
  if (record === undefined) return;
  try {
    if (endingOf(record.value) !== undefined) await deleteJob(parts, record);
    else await parts.settle(await cancelJob(parts, record));
  } catch (error) {
    if (!(error instanceof ApiError && (error.kind === 'conflict' || error.kind === 'not_found')))
      throw error;
  }
};

const sweep = async (parts: Parts): Promise<void> => {
  for (let round = 0; round < 4 && (await runMaintenance(parts)) > 0; round++);
};

type Act = (parts: Parts) => Promise<void>;
const acts: Record<string, { act: Act; time: number; mortal?: boolean }> = {
  finish: { act: (parts) => work(parts, 'c1', done), time: early },
  'finish slowly': { act: (parts) => work(parts, 'c1', done, true), time: early },
  'finish or die': { act: (parts) => work(parts, 'c1', done), time: early, mortal: true },
  fail: { act: (parts) => work(parts, 'c1', broken), time: early },
  'fail or die': { act: (parts) => work(parts, 'c1', broken), time: early, mortal: true },
  delete: { act: remove, time: early },
  'delete or die': { act: remove, time: early, mortal: true },
  'delete again': { act: remove, time: early },
  'take over': { act: (parts) => takeOver(parts, 'c2', done), time: late },
  'take over or die': { act: (parts) => takeOver(parts, 'c2', done), time: late, mortal: true },
  sweep: { act: sweep, time: late },
  'expire or die': { act: sweep, time: afterExpiry, mortal: true },
  expire: { act: sweep, time: afterExpiry },
};

const world =
  (names: readonly string[]) =>
  async (state: State): Promise<World> => {
    const charges: string[] = [];
    await new JobStore(state).create(pending());
    const actors = names.map((name): Actor => {
      const { act, time, mortal = false } = acts[name] ?? { act: async () => undefined, time: 0 };
      return { name, mortal, run: (own) => act(partsOf(own, charges, time)) };
    });
    const check = async (steps: readonly string[]): Promise<void> => {
      // Whoever is still alive comes by later and puts things in order.
      for (let time = afterExpiry; time < afterExpiry + 20_000; time += 5_000) {
        const parts = partsOf(state, charges, time);
        await takeOver(parts, `later ${time}`, done);
        await work(parts, `then ${time}`, done);
        await sweep(parts);
      }
      await sweep(partsOf(state, charges, 3 * afterExpiry));
      const left = (await new JobStore(state).get(id))?.value;
      const told = (await new Deliveries(state).list(10)).map((row) => row.id.slice(id.length + 1)).sort();
      const story = JSON.stringify({ left: left?.status, told, charges, steps }, null, 1);
      if (left !== undefined && (endingOf(left) === undefined || left.settled !== true))
        throw new Error(`it has not ended: ${story}`);
      const endings = told.filter((ending) => ending !== 'expired');
      if (endings.length !== 1) throw new Error(`not one ending: ${story}`);
      if (told.includes('expired') && endings[0] !== 'completed') throw new Error(`expired: ${story}`);
      if (left !== undefined && !told.includes(left.status)) throw new Error(`not told: ${story}`);
      const expected = endings[0] === 'completed' ? `usage_${id} 3` : undefined;
      // Repeats have the same id and amount: whoever counts, counts one.
      if ([...new Set(charges)].join() !== (expected ?? '')) throw new Error(`wrong charge: ${story}`);
      if ((await state.due('render-slot', { group: model, until: 1e15, limit: 9 })).length > 0)
        throw new Error(`a slot is lost: ${story}`);
    };
    const snapshot = async (): Promise<string> => {
      const kinds = ['video-job', 'render-slot', 'delivery'];
      const lists = await Promise.all(kinds.map((kind) => state.list(kind, { limit: 99, order: 'asc' })));
      return JSON.stringify([lists, [...new Set(charges)]]);
    };
    return { actors, check, snapshot };
  };

const sets: readonly (readonly string[])[] = [
  ['finish slowly', 'delete'],
  ['fail or die', 'delete or die'],
  ['finish slowly', 'take over or die'],
  ['finish or die', 'take over or die'],
  ['finish or die', 'sweep', 'delete'],
  ['finish', 'sweep', 'expire', 'delete'],
  ['finish or die', 'expire or die', 'expire'],
];
/** Exploring these takes tens of thousands of steps. */
const largeSets: readonly (readonly string[])[] = [
  ['finish', 'delete', 'delete again'],
  ['finish', 'take over', 'delete'],
];

for (const names of [...sets, ...largeSets])
  t.test(names.join(', '), { skip: largeSets.includes(names) && onlyLong }, async (t) => {
    const { ends, steps } = await explore(world(names));
    t.ok(ends > 0);
    t.comment(`${ends} ends, ${steps} steps`);
  });
