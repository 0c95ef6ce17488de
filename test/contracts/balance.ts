/** The contract of every balancing policy at the socket of a whole gateway, with replicas that are servers. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { type ReplicasBehind, startBehind, startReplicas, visits } from '../engines/replicas-behind.ts';
import type { ScriptedEngine } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';

export interface BalanceTraits {
  /** Fields of the engine's row that choose the policy. */
  readonly row: string;
  /** The calls of a conversation stay together. */
  readonly sticky: boolean;
}

const names = Array.from({ length: 16 }, (_, index) => `chat ${index}`);

export const balanceContract = (t: Test, { row, sticky }: BalanceTraits): void => {
  t.test('replicas that are full or gone', async (t) => {
    const { engines, converse } = await startBehind(t, { row: `${row}, concurrency: 2` });
    const held = hold(engines);
    const calls = Promise.all(Array.from({ length: 9 }, () => converse('popular')));
    await eventually(() => sum(visits(engines)) === 8, 'two calls on each of four');
    t.strictSame(visits(engines), [2, 2, 2, 2], 'a full one gets no call');
    held.release();
    await calls;
    t.equal(sum(visits(engines)), 9, 'what none can take waits');

    const before = visits(engines);
    await engines[0]?.close();
    for (const name of names) await converse(name);
    t.equal(sum(visits(engines, before)), names.length, 'one that cannot be reached costs no request');
  });

  t.test('conversations are distributed by weight', async (t) => {
    const engines = await startReplicas(t, 2);
    const { converse } = await startBehind(t, { row, engines, weights: [3, 1] });
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 10 }, (_, index) => converse(`chat ${round} ${index}`)));
    const [heavy = 0, light = 0] = visits(engines);
    t.equal(heavy + light, 200);
    t.ok(light >= 25 && light <= 75, `${heavy} and ${light}`);
  });

  t.test('replicas are replaced one by one under load, and no request fails', async (t) => {
    await replaceAll(t, await startBehind(t, { row: `${row}, slow_start: 200ms` }));
  });

  t.test('conversations', async (t) => {
    const site = await startBehind(t, { row });
    const { engines, converse } = site;
    if (sticky) {
      const homes = await homesOf(site);
      t.ok(new Set(homes).size > 1, 'several replicas have some');
      t.strictSame(await homesOf(site), homes, 'they stay where they are');
      const other = await startBehind(t, { row, engines: engines.toReversed() });
      t.strictSame(await homesOf(other), homes, 'gateways agree without talking');
    }

    const before = visits(engines);
    const held = hold(engines);
    const calls = Promise.all(Array.from({ length: 40 }, () => converse('popular')));
    await eventually(() => sum(visits(engines, before)) === 40, 'all are in flight');
    const most = Math.max(...visits(engines, before));
    t.ok(most <= 1.5 * 10 + 9, `a popular one cannot drown a replica: ${most} of 40 on one of four`);
    held.release();
    await calls;
    if (!sticky) return;

    const homes = await homesOf(site);
    const gone = homes[0] ?? '';
    site.setReplicas(engines.filter(({ url }) => url !== gone));
    await eventually(() => countOf(site, 'replica left') === 1, 'it has left');
    const after = await homesOf(site);
    t.notOk(after.includes(gone));
    const moved = names.filter((_, index) => after[index] !== homes[index]);
    t.strictSame(
      moved,
      names.filter((_, index) => homes[index] === gone),
      'when a replica leaves, only its own move',
    );
  });
};

/** Each replica is replaced by a new one, and switched off once the gateway has closed its connections. */
export const replaceAll = async (t: Test, site: ReplicasBehind): Promise<void> => {
  const { engines, converse, setReplicas } = site;
  const fresh = await startReplicas(t, engines.length);
  for (const engine of [...engines, ...fresh])
    engine.script = async (request) => {
      await pause(5 + (request.number % 20));
      request.answer('Yes.');
    };
  let sent = 0;
  let isOver = false;
  const failures: unknown[] = [];
  const client = async (name: number): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      await converse(`client ${name} in turn ${turn % 5}`).catch((error: unknown) => failures.push(error));
      sent++;
    }
  };
  const clients = Array.from({ length: 8 }, (_, name) => client(name));
  const more = async (count: number): Promise<void> => {
    const wanted = sent + count;
    await eventually(() => sent >= wanted, 'requests run', 120);
  };
  try {
    for (const [index, old] of engines.entries()) {
      await more(30);
      setReplicas([...fresh.slice(0, index + 1), ...engines.slice(index + 1)]);
      await eventually(() => countOf(site, 'replica left') > index, 'it has left', 120);
      let isDrained = false;
      void drained(old).then(() => {
        isDrained = true;
      });
      await eventually(() => isDrained, 'its connections are closed', 120);
      await old.close();
    }
    await more(60);
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
  t.strictSame(failures, []);
  t.ok(
    fresh.every((engine) => engine.requests.length > 0),
    'the new ones are all used',
  );
  t.equal(countOf(site, 'replica joined'), engines.length);
  t.equal(countOf(site, 'replica left'), engines.length);
  t.equal(sum(visits([...engines, ...fresh])), sent, 'none was sent twice');
};

/** All its connections are closed, also those of calls that were on their way to it when it left. */
const drained = async ({ requests }: ScriptedEngine): Promise<void> => {
  for (let seen = -1; seen !== requests.length; ) {
    seen = requests.length;
    await Promise.all(requests.map(({ gone }) => gone));
    await pause(50);
  }
};

/** Calls are not answered until they are released. */
const hold = (engines: readonly ScriptedEngine[]): { release(): void } => {
  const answers: (() => void)[] = [];
  for (const engine of engines) engine.script = (request) => void answers.push(() => request.answer('Yes.'));
  return {
    release: () => {
      for (const engine of engines) engine.script = (request) => request.answer('Yes.');
      for (const answer of answers) answer();
    },
  };
};

/** The address of each one's replica. */
const homesOf = async ({ homeOf }: ReplicasBehind): Promise<readonly string[]> => {
  const homes: string[] = [];
  for (const name of names) homes.push((await homeOf(name)).url);
  return homes;
};

const countOf = ({ gateway }: ReplicasBehind, message: string): number =>
  gateway.logLines.filter(({ msg }) => msg === message).length;

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
