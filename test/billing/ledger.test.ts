/** Tests the Ledger port on SQLite and on ClickHouse. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { pino } from 'pino';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { schema } from '../../src/adapters/ledger/libsql-schema.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { requestIds } from '../../src/http/request-id.ts';
import { ledgerContract } from '../contracts/ledger.ts';
import { clickHouseMissing, startClickHouse } from '../services/clickhouse.ts';
import { usageEvent } from './usage-events.ts';

const day = 86_400_000;
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
const all = { limit: 100 };

t.test('SQLite', async (t) => {
  await t.test('contract', async (t) => {
    const file = join(t.testdir(), 'ledger.db');
    await ledgerContract(t, () => openLibsqlLedger(file));
  });

  await t.test('ids counted before a restart are not counted again', async (t) => {
    const file = join(t.testdir(), 'ledger.db');
    const before = [usageEvent(), usageEvent()];
    const earlier = openLibsqlLedger(file);
    await earlier.insert(before);
    await earlier.close();
    const ledger = openLibsqlLedger(file);
    // Of the same process: it had not shipped all.
    const since = [usageEvent(), usageEvent()];
    const later = { ...usageEvent(), id: `usage_${requestIds()()}` };
    for (const events of [[...before, ...since], since, [...since, later], [later, ...before]])
      await ledger.insert(events);
    const ids = (events: readonly UsageEvent[]) => events.map(({ id }) => id).sort();
    t.strictSame(ids(await ledger.list(always, all)), ids([...before, ...since, later]));
    t.match(await ledger.totals(always, [], all), [{ requests: 5 }]);
    await ledger.close();
  });

  await t.test('a batch of many transactions is counted once and stored unchanged', async (t) => {
    const ledger = openLibsqlLedger(join(t.testdir(), 'ledger.db'));
    const events = Array.from({ length: 1300 }, (_, index) => ({
      ...usageEvent({ time: 1_700_000_000_000 + index * 500, subscription: `sub_${index % 3}` }),
      fieldOfALaterVersion: index,
    }));
    for (let repeat = 0; repeat < 2; repeat++) await ledger.insert(events);
    t.strictSame(await ledger.list(always, { limit: 2000 }), events);
    t.equal((await ledger.find(events)).length, events.length);
    t.match(await ledger.totals(always, [], all), [{ requests: 1300 }]);
    await ledger.close();
  });

  await t.test('old events and their sums are deleted by whole days', async (t) => {
    const file = join(t.testdir(), 'ledger.db');
    const now = Date.now();
    const events = [40, 31, 29, 0].map((age) => usageEvent({ time: now - age * day }));
    const before = openLibsqlLedger(file);
    await before.insert(events);
    await before.close();
    const ledger = openLibsqlLedger(file, { days: 30, log: pino({ level: 'silent' }) });
    const ids = async () => (await ledger.list(always, all)).map(({ id }) => id);
    for (let turn = 0; turn < 200 && (await ids()).length > 2; turn++) await delay(5);
    t.strictSame(
      await ids(),
      events.slice(2).map(({ id }) => id),
    );
    t.match(await ledger.totals(always, [], all), [{ requests: 2 }]);
    await ledger.close();
    const sqlite = openSqlite(file, schema);
    const kept = sqlite.all<[string]>('SELECT id FROM usage_ids').flat();
    t.same(new Set(kept), new Set(events.slice(2).map(({ id }) => id)), 'ids are removed with their events');
    await sqlite.close();
  });
});

t.test('unavailable ClickHouse', async (t) => {
  const ledger = openClickHouseLedger('http://user:secret@127.0.0.1:1/usage');
  await t.rejects(ledger.check(), {
    message: 'ClickHouse at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1.',
  });
  await t.rejects(ledger.insert([usageEvent()]), {
    name: 'ApiError',
    message: 'The usage ledger is unavailable',
  });
  await ledger.close();
});

t.test('ClickHouse', { skip: clickHouseMissing() ?? false }, async (t) => {
  const service = await startClickHouse({ own: clickHouseMissing({ own: true }) === undefined });
  t.teardown(() => service.stop());
  const database = `sluice_test_${randomBytes(4).toString('hex')}`;
  const url = `${service.url}/${database}`;
  const client = createClient({ url });
  t.teardown(async () => {
    await client.close();
  });
  const ask = async (query: string): Promise<unknown> => {
    const answer = await client.query({ query, format: 'JSONCompactEachRow' });
    return (await answer.json<unknown[]>())[0]?.[0];
  };

  await t.test('processes that start together create one schema', async (t) => {
    const together = Array.from({ length: 4 }, () => openClickHouseLedger(url));
    await Promise.all(together.map((ledger) => ledger.check()));
    await Promise.all(together.map((ledger) => ledger.close()));
    t.equal(Number(await ask('SELECT max(version) FROM sluice_schema')), 1);
  });

  await t.test('contract', (t) => ledgerContract(t, () => openClickHouseLedger(url)));

  await t.test('contract, with every day sealed after every insert', (t) =>
    ledgerContract(
      t,
      () => {
        const ledger = openClickHouseLedger(`${service.url}/${database}_sealed`);
        return {
          ...ledger,
          insert: async (events) => {
            await ledger.insert(events);
            await ledger.seal({ quietSeconds: 0, before: '2099-01-01' });
          },
        };
      },
      { histories: 5 },
    ),
  );

  await t.test('a sealed day counts until it is touched again', async (t) => {
    const ledger = openClickHouseLedger(`${service.url}/${database}_touched`);
    const past = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
    const event = (time: number) => usageEvent({ time, subscription: 'sub_seal' });
    const first = [event(past), event(past), event(past + 1)];
    await ledger.insert(first);
    await ledger.insert(first);
    t.equal(await ledger.seal(), 0, 'touched a moment ago');
    const seal = () => ledger.seal({ quietSeconds: 0 });
    t.equal(await seal(), 2);
    t.equal(await seal(), 0, 'nothing new');
    // From now on the events could go: the sealed days do not need them.
    const touched = createClient({ url: `${service.url}/${database}_touched` });
    await touched.command({ query: 'TRUNCATE TABLE sluice_usage' });
    const filter = { from: past - day, to: past + day, subscription: 'sub_seal' };
    const counts = async () =>
      (await ledger.totals(filter, ['day'], all)).map(({ group, requests }) => [...group, requests]);
    const whole = { from: Date.UTC(2026, 0, 31), to: Date.UTC(2026, 1, 2), subscription: 'sub_seal' };
    const sealed = async () =>
      (await ledger.totals(whole, ['day'], all)).map(({ group, requests }) => [...group, requests]);
    t.strictSame(await sealed(), [
      ['2026-01-31', 2],
      ['2026-02-01', 1],
    ]);
    t.strictSame(await counts(), [['2026-01-31', 2]], 'a day in part is counted by its events');
    await ledger.insert([event(past)]);
    t.strictSame(
      await sealed(),
      [
        ['2026-01-31', 1],
        ['2026-02-01', 1],
      ],
      'the touched day by its events, the other by its seal',
    );
    await touched.close();
    await ledger.close();
  });

  await t.test('unmerged duplicates do not count', async (t) => {
    const ledger = openClickHouseLedger(url);
    const events = Array.from({ length: 10 }, () => usageEvent({ subscription: 'sub_copies' }));
    await client.command({ query: 'SYSTEM STOP MERGES sluice_usage' });
    for (let copy = 0; copy < 3; copy++) await ledger.insert(events);
    const rows = "SELECT count() FROM sluice_usage WHERE subscription = 'sub_copies'";
    t.equal(Number(await ask(rows)), 30);
    const filter = { ...always, subscription: 'sub_copies' };
    t.match(await ledger.totals(filter, ['day'], all), [{ requests: 10, cost: '0.00002' }]);
    await client.command({ query: 'SYSTEM START MERGES sluice_usage' });
    await client.command({ query: 'OPTIMIZE TABLE sluice_usage FINAL' });
    t.equal(Number(await ask(rows)), 10, 'merged');
    t.match(await ledger.totals(filter, ['day'], all), [{ requests: 10, cost: '0.00002' }]);
    await ledger.close();
  });

  await t.test('retention is set, changed and lifted', async (t) => {
    const table =
      "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'sluice_usage'";
    for (const [days, ttl] of [
      [30, /TTL toDateTime\(time\) \+ toIntervalDay\(30\)/],
      [400, /toIntervalDay\(400\)/],
      [undefined, /toIntervalDay\(400\)/],
      [0, /^((?!TTL).)*$/],
    ] as const) {
      const ledger = openClickHouseLedger(url, { retentionDays: days });
      await ledger.check();
      t.match(await ask(table), ttl);
      await ledger.close();
    }
  });

  const restartable = clickHouseMissing({ own: true });
  await t.test('inserted rows survive a kill', { skip: restartable ?? false }, async (t) => {
    const ledger = openClickHouseLedger(url);
    const event = usageEvent({ subscription: 'sub_kill' });
    await ledger.insert([event]);
    await service.kill();
    await t.rejects(ledger.insert([event]), { name: 'ApiError', message: 'The usage ledger is unavailable' });
    await service.revive();
    t.strictSame(await ledger.list({ ...always, subscription: 'sub_kill' }, all), [event]);
    await ledger.close();
  });

  await t.test('tables of a newer version are not changed', async (t) => {
    await client.command({ query: 'INSERT INTO sluice_schema (version) VALUES (99)' });
    const ledger = openClickHouseLedger(url);
    await t.rejects(ledger.check(), {
      message: /cannot be used: its tables were made by a newer version \(schema 99, this one knows 1\)\.$/,
    });
    await t.rejects(ledger.insert([usageEvent()]), /ledger is unavailable/, 'the events are not at fault');
    await ledger.close();
    for (const name of ['_sealed', '_touched', ''])
      await client.command({ query: `DROP DATABASE ${database}${name}` });
  });
});
