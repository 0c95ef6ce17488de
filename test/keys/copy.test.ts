/** Tests that keys survive a Redis that loses its data, and that revoked ones stay revoked. */
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { readPersistence } from '../../src/adapters/state/redis-persistence.ts';
import { openKeyCopy } from '../../src/keys/copy.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const silent = pino({ level: 'silent' });
const skip = redisMissing({ own: true }) ?? false;

/** A store of its own, and copies of it that look only when they are told to. */
const openStore = (t: Test, folder: string, name: string) => {
  const state = openLibsqlState(join(folder, `${name}.db`));
  t.teardown(() => state.close());
  return state;
};
const copyOf = (t: Test, state: ReturnType<typeof openLibsqlState>, file: string, log = silent) => {
  const copy = openKeyCopy({ state, file, log, otherKinds: ['limits'], lookMs: 1e8 });
  t.teardown(() => copy.close());
  return copy;
};

t.test('a copy is private, has no secret, and follows changes', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'copy');
  const state = openStore(t, folder, 'one');
  const keys = createKeyManagement(state);
  const copy = copyOf(t, state, file);
  await copy.look();
  const { id } = await keys.createSubscription('acme');
  const { secret, key } = await keys.createKey({ subscription: id, name: 'first' });
  await copy.look();
  t.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(file, 'utf8');
  t.notMatch(text, secret);
  const [header, ...records] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(header, { format: 1, installation: /^[0-9a-f]{24}$/, version: 2, time: /^20/ });
  t.match(records, [
    { kind: 'subscription', id, value: { name: 'acme', status: 'active' } },
    { kind: 'key', id: /^[0-9a-f]{64}$/, owner: id, value: { id: key.id, status: 'active' } },
  ]);
  const before = statSync(file).ino;
  await copy.look();
  t.equal(statSync(file).ino, before, 'not written again without a change');
  await keys.suspendKey(key.id);
  await copy.look();
  t.match(readFileSync(file, 'utf8'), '"status":"suspended"');
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('copy')),
    ['copy'],
    'nothing is left over',
  );
});

t.test('an empty store is restored; a revoked key stays revoked, whoever restores first', async (t) => {
  const folder = t.testdir();
  const [newer, older] = [join(folder, 'newer'), join(folder, 'older')];
  const first = openStore(t, folder, 'first');
  const keys = createKeyManagement(first);
  const copy = copyOf(t, first, newer);
  const { id } = await keys.createSubscription('acme');
  const [kept, revoked, suspended] = [
    await keys.createKey({ subscription: id }),
    await keys.createKey({ subscription: id }),
    await keys.createKey({ subscription: id }),
  ];
  await first.create('limits', { id, owner: id, value: { subscription: id, all: {}, models: {} } });
  await copy.look();
  copyFileSync(newer, older);
  await keys.revokeKey(revoked.key.id);
  await keys.suspendKey(suspended.key.id);
  const late = await keys.createKey({ subscription: id });
  await copy.look();

  const empty = openStore(t, folder, 'empty');
  const restored = createKeyManagement(empty);
  const statuses = async () =>
    Promise.all(
      [kept, revoked, suspended, late].map(({ secret }) =>
        restored.findKey(secret).then(
          ({ status }) => status,
          () => 'unknown',
        ),
      ),
    );
  const stale = copyOf(t, empty, older);
  await stale.look();
  t.strictSame(await statuses(), ['active', 'active', 'active', 'unknown'], 'an old copy knows no better');
  t.ok(await empty.get('limits', id));
  const fresh = copyOf(t, empty, newer);
  await fresh.look();
  t.strictSame(await statuses(), ['active', 'closed', 'active', 'active'], 'a newer one does');
  t.strictSame([stale.restores(), fresh.restores()], [1, 1]);
  await stale.look();
  await fresh.look();
  t.strictSame([stale.restores(), fresh.restores()], [1, 1], 'once');
  t.match(readFileSync(older, 'utf8'), '"status":"closed"', 'and the old copy learns of it');
});

t.test('the copy of another store, or one that does not read, is not restored', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'copy');
  const one = openStore(t, folder, 'one');
  await createKeyManagement(one).createSubscription('acme');
  await copyOf(t, one, file).look();
  const { installation } = JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '');
  const other = openStore(t, folder, 'other');
  await copyOf(t, other, join(folder, 'others')).look();
  await copyOf(t, other, file).look();
  t.strictSame(await createKeyManagement(other).listSubscriptions(), []);
  t.match(readFileSync(`${file}.${installation}`, 'utf8'), 'acme', 'it is kept');

  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  writeFileSync(file, 'no copy\n');
  const third = openStore(t, folder, 'third');
  await copyOf(t, third, file, log).look();
  t.strictSame(logged, ['the copy of keys cannot be read']);
  t.match(readFileSync(file, 'utf8'), '"format":1');
});

t.test('a Redis that restarts without its data', { skip, timeout: 120_000 }, async (t) => {
  const service = await startRedis({ own: true });
  t.teardown(() => service.stop());
  t.equal(await readPersistence(service.url), 'none');
  await t.rejects(startGateway({ env: { REDIS_URL: service.url, SLUICE_REDIS_PERSISTENCE: 'require' } }), {
    message:
      'Redis keeps nothing on disk, and SLUICE_REDIS_PERSISTENCE is require: set "appendonly yes" in its configuration',
  });
  const gateway = await startGateway({ env: { REDIS_URL: service.url, SLUICE_ADMIN_PORT: '0' } });
  t.teardown(() => gateway.stop());
  t.match(
    gateway.logLines.find(({ msg }) => msg.startsWith('Redis keeps nothing on disk')),
    { level: 50 },
  );
  const ask = async (key: string): Promise<number> =>
    (await fetch(`${gateway.url}/usage`, { headers: { authorization: `Bearer ${key}` } })).status;
  const keys = createKeyManagement(gateway.ports.state);
  const [active, revoked] = [
    await keys.createKey({ subscription: 'default' }),
    await keys.createKey({ subscription: 'default' }),
  ];
  t.equal(await ask(active.secret), 200);
  await keys.revokeKey(revoked.key.id);
  const copy = join(gateway.folder, 'data', 'keys-copy.jsonl');
  await eventually(() => readFileSync(copy, 'utf8').includes('"status":"closed"'), 'a copy');

  await service.restart();
  const statuses = new Set<number>();
  await eventually(async () => {
    statuses.add(await ask(active.secret));
    return gateway.logLines.some(({ msg }) => msg.startsWith('the store lost data'));
  }, 'the restoration');
  t.strictSame([...statuses], [200], 'a known key is accepted throughout');
  await eventually(async () => (await ask(revoked.secret)) === 401, 'the revoked one');
  t.equal(await ask(active.secret), 200);
  t.equal(await ask(gateway.key), 200);
  t.match(await keys.findKey(revoked.key.id), { status: 'closed' });
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  t.match(metrics, /^sluice_store_persistence\{kind="none"\} 1$/m);
  t.match(metrics, /^sluice_key_restores_total 1$/m);
});

t.test('persistence is read from what a server says', { skip }, async (t) => {
  const service = await startRedis({ own: true, persist: true });
  t.teardown(() => service.stop());
  t.equal(await readPersistence(service.url), 'append-only');
  const admin = new Redis(service.url);
  t.teardown(() => admin.disconnect());
  await admin.config('SET', 'appendonly', 'no');
  await admin.config('SET', 'save', '900 1');
  t.equal(await readPersistence(service.url), 'snapshots');
  await admin.call('ACL', 'SETUSER', 'hosted', 'on', '>pass', '~*', '&*', '+@all', '-config');
  t.equal(await readPersistence(service.url.replace('redis://', 'redis://hosted:pass@')), 'unknown');
});
