/** Tests the parts of a cluster's chaos run that need no processes: faults and the verdict. */
import t from 'tap';
import { Random } from '../../src/simulator/random.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { eventually } from '../eventually.ts';
import { type Billed, Client } from '../topology/client.ts';
import { type Part, startFaults } from './cluster/faults.ts';
import { faultsOf, judgeCluster, mostInMinute } from './cluster/verdict.ts';

const none = {
  ...{ prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 },
  ...{ inputs: 0, megapixels: 0, seconds: 0 },
};

t.test('the verdict on a cluster detects every fault', async (t) => {
  const client = new Client(['http://127.0.0.1:1/v1'], 'sk-nobody');
  const quantities = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 0, reasoning_tokens: 0 };
  const event = (id: string, more: object = {}) => ({
    ...usageEvent({
      id: `event ${id}`,
      request_id: id,
      route: '/chat/completions',
      model: 'a/b',
      cost: '0.000002',
    }),
    quantities,
    ...more,
  });
  const billed = (id: string): Billed => ({
    ...none,
    ...quantities,
    ...{ request_id: id, route: '/chat/completions', model: 'a/b', outcome: 'completed', cost: '0.000002' },
  });
  client.billed.push(...['good', 'lost', 'twice', 'other'].map(billed));
  client.refused.push({ requestId: 'refused', status: 503 });
  client.cut.push('cut', undefined);
  const job = { client, path: '/music', model: 'sluice/music', seconds: 5 } as const;
  const findings = {
    clients: [client],
    events: [
      ...['good', 'twice', 'refused', 'cut', 'nameless', 'strange'].map((id) => event(id)),
      event('twice', { id: 'another' }),
      event('other', { cost: '0.000003' }),
      event('song', { route: '/music' }),
      event('song', { id: 'again', route: '/music' }),
    ],
    reports: [],
    jobs: [
      { ...job, id: 'music_1', requestId: 'song', status: 'completed' },
      { ...job, id: 'music_2', requestId: 'song 2', status: 'pending' },
    ],
    listed: { '/music': [{ id: 'music_1', status: 'completed' }] },
    deliveries: [
      { job: 'music_1', key: 'music_1-completed', signed: true },
      { job: 'music_1', key: 'music_1-failed', signed: false },
    ],
  };
  const verdict = judgeCluster(findings);
  t.match(verdict, {
    compared: 4,
    missing: [/^lost /],
    repeated: [/^twice /],
    wrong: [/"other".*0\.000002.*0\.000003/],
    billedFailures: [/^refused /],
    // Four are of no answer; two may be those of the cuts.
    unexplained: 2,
    unended: ['music_2'],
    miscounted: ['1 jobs of /music completed, 2 were charged'],
    silent: ['music_2'],
    ambiguous: [/^music_1/],
    unsigned: 1,
  });
  t.equal(faultsOf(verdict).length, 10);

  const good = new Client(['http://127.0.0.1:1/v1'], 'sk-nobody');
  good.billed.push(billed('good'));
  const nothing = { reports: [], jobs: [], listed: {}, deliveries: [] };
  t.strictSame(faultsOf(judgeCluster({ ...nothing, clients: [good], events: [event('good')] })), []);
});

t.test('what started in a minute was sent and answered in it', async (t) => {
  const admitted = [0, 10_000, 59_000, 61_000, 65_000].map((sent) => ({
    sent,
    answered: sent + 2_000,
    tokens: 3,
  }));
  t.equal(
    mostInMinute(admitted, () => 1),
    4,
    'from 10 s to 70 s',
  );
  t.equal(
    mostInMinute(admitted.slice(0, 3), ({ tokens }) => tokens),
    6,
    'the third may have begun later',
  );
});

t.test('one part of a group is disturbed at a time, and timed until it works', async (t) => {
  let [away, most] = [0, 0];
  const set = (change: number) => {
    away += change;
    most = Math.max(most, away);
  };
  const part = (name: string): Part => ({
    name,
    kind: async () => 'fake',
    watch: async () => ({ service: async () => away === 0, itself: async () => away === 0 }),
    kill: async () => set(1),
    revive: async () => set(-1),
    freeze: () => set(1),
    thaw: () => set(-1),
  });
  const options = {
    pause: [1, 5],
    away: [20, 40],
    atOnce: 2,
    patience: 5_000,
    say: () => undefined,
  } as const;
  const faults = startFaults([[part('one'), part('two')]], new Random(3), options);
  await eventually(() => faults.recoveries.length >= 3, 'three recoveries');
  await faults.stop();
  t.equal(most, 1);
  t.equal(away, 0, 'all runs again');
  for (const { service = 0, itself, away: gone } of faults.recoveries) {
    t.ok(service >= gone - 5 && service < 5_000, `${service} ms`);
    t.type(itself, 'number');
  }
});
