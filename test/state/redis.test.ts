/** Tests the State port on Redis. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import t from 'tap';
import { openState } from '../../src/adapters/state/open.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import type { State } from '../../src/ports/state.ts';
import { stateContract } from '../contracts/state.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const skip = redisMissing();
const skipOwn = redisMissing({ own: true });

t.test('contract', { skip: skip ?? false }, async (t) => {
  const service = await startRedis();
  const prefix = `sluice-test-${randomBytes(6).toString('hex')}:`;
  t.teardown(async () => {
    await removeAll(service.url, prefix);
    await service.stop();
  });
  await stateContract(t, () => openRedisState(service.url, { prefix }));
});

t.test('a server of our own', { skip: skipOwn ?? false }, async (t) => {
  const service = await startRedis({ own: true, persist: true });
  t.teardown(() => service.stop());
  const state = openRedisState(service.url, { patience: 500 });
  t.teardown(() => state.close());
  const admin = new Redis(service.url);
  admin.on('error', () => undefined);
  t.teardown(() => admin.disconnect());

  await t.test('removing a record leaves nothing behind but the counter', async (t) => {
    await state.create('kind', { id: 'a', owner: 'o', value: 1, index: { group: 'g', due: 1 } });
    t.strictSame((await admin.keys('*')).sort(), [
      'sluice:{kind}:all',
      'sluice:{kind}:due:g',
      'sluice:{kind}:owner:o',
      'sluice:{kind}:record:a',
      'sluice:{kind}:sequence',
    ]);
    await state.remove('kind', 'a');
    t.strictSame(await admin.keys('*'), ['sluice:{kind}:sequence']);
  });

  await t.test('scripts survive SCRIPT FLUSH', async (t) => {
    await admin.script('FLUSH');
    t.equal(await state.create('kind', { id: 'b', owner: 'o', value: 1 }), true);
    t.equal(await state.update('kind', 'b', 1, { value: 2 }), true);
  });

  await t.test('a database that does not exist is refused, not replaced by another', async (t) => {
    const redis = `${service.url}/99`;
    await t.rejects(openState({ dataDir: 'unused', redis }), {
      message: /^Redis at 127\.0\.0\.1:\d+ cannot be used: ERR DB index is out of range\.$/,
    });
  });

  await t.test('a restart loses nothing, and the same connection continues', async (t) => {
    await service.restart();
    await eventually(() => answers(state), 'the connection is back');
    t.strictSame(await state.get('kind', 'b'), { id: 'b', version: 2, owner: 'o', value: 2 });
    t.equal(await state.create('kind', { id: 'c', owner: 'o', value: 3 }), true);
  });

  await t.test('a hanging server fails calls within their timeout, and recovers', async (t) => {
    service.process?.kill('SIGSTOP');
    await t.rejects(state.get('kind', 'b'), {
      kind: 'unavailable',
      cause: { message: /^Redis at 127\.0\.0\.1:\d+ cannot be used: .*\.$/ },
    });
    service.process?.kill('SIGCONT');
    await state.check();
    t.equal((await state.get('kind', 'b'))?.version, 2);
  });

  await t.test('an unavailable server fails calls, and after a while at once', async (t) => {
    await service.stop();
    await t.rejects(state.update('kind', 'b', 2, { value: 4 }), { name: 'ApiError', kind: 'unavailable' });
    await t.rejects(state.check(), {
      message: /^Redis at 127\.0\.0\.1:\d+ cannot be used: .*\.$/,
    });
    const atOnce = () => Promise.race([state.get('kind', 'b').catch(() => 'failed'), turns(3)]);
    await eventually(async () => (await atOnce()) === 'failed', 'a call fails at once');
    const redis = service.url.replace('redis://', 'redis://user:secret@');
    await t.rejects(openState({ dataDir: 'unused', redis }), {
      message: /^Redis at 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*\.$/,
    });
  });
});

const removeAll = async (url: string, prefix: string): Promise<void> => {
  const redis = new Redis(url);
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1000 }))
    if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
};

/** A few rounds of the event loop: less than any waiting takes. */
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

const answers = (state: State): Promise<boolean> =>
  state.check().then(
    () => true,
    () => false,
  );
