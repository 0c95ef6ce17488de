/** Tests the ledger on a cluster of ClickHouse: settings, failover, tokens, statements and totals. */
import { randomBytes } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import t, { type Test } from 'tap';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { Servers } from '../../src/adapters/ledger/clickhouse-servers.ts';
import { creating, creatingTable, schemaTable } from '../../src/adapters/ledger/clickhouse-tables.ts';
import { loadConfig } from '../../src/config.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import { ledgerContract } from '../contracts/ledger.ts';
import { clickHouseMissing, startClickHouse } from '../services/clickhouse.ts';
import { keeperMissing, startKeeper } from '../services/keeper.ts';
import { type Answer, forwardedTo, type ProxyServer, startProxy } from './clickhouse-proxy.ts';
import { usageEvent } from './usage-events.ts';

const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
const all = { limit: 100 };
const away = { name: 'ApiError', message: 'The usage ledger is unavailable' };
const cluster = { name: 'sluice_test', insertQuorum: 'auto' } as const;

t.test('settings', async (t) => {
  t.equal(loadConfig({}).clickHouse, undefined);
  t.strictSame(loadConfig({ CLICKHOUSE_URL: 'http://a:8123/usage' }).clickHouse, {
    urls: ['http://a:8123/usage'],
    cluster: undefined,
  });
  const several = 'http://a:8123/usage, https://u:p@b:8443/usage';
  t.strictSame(loadConfig({ CLICKHOUSE_URL: several, CLICKHOUSE_CLUSTER: 'main' }).clickHouse, {
    urls: ['http://a:8123/usage', 'https://u:p@b:8443/usage'],
    cluster: { name: 'main', insertQuorum: 'auto' },
  });
  const one = { CLICKHOUSE_URL: 'http://a', CLICKHOUSE_CLUSTER: 'main' };
  t.match(loadConfig({ ...one, CLICKHOUSE_INSERT_QUORUM: '2' }).clickHouse, { cluster: { insertQuorum: 2 } });
  for (const [env, message] of [
    [{ CLICKHOUSE_URL: 'a:8123' }, /^CLICKHOUSE_URL must be an address starting with http/],
    [{ CLICKHOUSE_URL: 'http://a,' }, /^CLICKHOUSE_URL must be an address/],
    [{ CLICKHOUSE_URL: several }, /^CLICKHOUSE_URL names several servers.*set CLICKHOUSE_CLUSTER$/],
    [{ ...one, CLICKHOUSE_URL: 'http://a/x,http://b/y' }, /^CLICKHOUSE_URL must name the same database/],
    [
      { ...one, CLICKHOUSE_URL: Array(17).fill('http://a').join() },
      /^CLICKHOUSE_URL .* at most 16 servers, not 17/,
    ],
    [{ CLICKHOUSE_CLUSTER: 'main' }, /^CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL$/],
    [{ ...one, CLICKHOUSE_CLUSTER: "x' --" }, /^CLICKHOUSE_CLUSTER must be a name/],
    [
      { CLICKHOUSE_URL: 'http://a', CLICKHOUSE_INSERT_QUORUM: '2' },
      /^CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER$/,
    ],
    [
      { ...one, CLICKHOUSE_INSERT_QUORUM: '0' },
      /^CLICKHOUSE_INSERT_QUORUM must be auto or a whole number from 1 to 16/,
    ],
  ] as const)
    t.throws(() => loadConfig(env), { name: 'ConfigError', message });
});

t.test('choice of a server', async (t) => {
  let now = 0;
  const down = new Set<string>();
  const servers = new Servers(['a', 'b', 'c', 'd'], { first: 1, now: () => now });
  const tried: string[] = [];
  const call = async (tries?: number) => {
    tried.length = 0;
    const work = async (name: string) => {
      tried.push(name);
      if (down.has(name)) throw new Error(name);
      return name;
    };
    return await servers.run(work, () => true, tries).catch(() => undefined);
  };
  t.equal(await call(), 'b');
  down.add('b');
  t.equal(await call(), 'c');
  t.strictSame(tried, ['b', 'c']);
  t.equal(await call(), 'c', 'the next call begins where the last one ended');
  t.strictSame(tried, ['c']);
  down.add('c').add('d');
  t.equal(await call(), 'a');
  t.strictSame(tried, ['c', 'd', 'a'], 'the one that is down is not tried');
  down.add('a');
  t.equal(await call(), undefined);
  t.strictSame(tried, ['a', 'b', 'c'], 'in the order of their cooldowns, three at most');
  down.delete('d');
  now = 5_001;
  t.equal(await call(1), undefined);
  t.strictSame(tried, ['a'], 'a statement that must not run twice');
  t.equal(await call(), 'd', 'cooldowns are over but that of a, which failed again and has a longer one');
  t.strictSame(tried, ['b', 'c', 'd']);
  now = 12_000;
  down.clear();
  down.add('d');
  t.equal(await call(), 'a');
  t.strictSame(tried, ['d', 'a']);
  let failures = 0;
  const refuse = () =>
    servers.run(
      () => Promise.reject(new Error(`${failures++}`)),
      () => false,
    );
  await t.rejects(refuse(), { message: '0' }, 'what no other server would do better is not repeated');
  t.equal(failures, 1);
});

/** Takes a snapshot of every day after every insert. */
const sealing = (ledger: ReturnType<typeof openClickHouseLedger>): Ledger => ({
  ...ledger,
  insert: async (events) => {
    await ledger.insert(events);
    await ledger.seal({ quietSeconds: 0, before: '2099-01-01' });
  },
});

/** Of a cluster with all its tables. */
const complete: Answer = async ({ text }) => {
  if (text.includes('max(version)')) return [200, '[1]\n'];
  if (text.includes('clusterAllReplicas')) return [200, '["22","22"]\n'];
  if (text.startsWith('SELECT engine')) return [200, '["Distributed"]\n'];
  return [200, ''];
};

const startProxies = async (t: Test, count: number, answer: Answer): Promise<readonly ProxyServer[]> => {
  const proxies = await Promise.all(Array.from({ length: count }, () => startProxy(answer)));
  t.teardown(() => Promise.all(proxies.map((proxy) => proxy.stop())));
  return proxies;
};

t.test('requests', async (t) => {
  const proxies = await startProxies(t, 2, complete);
  const [one, other] = proxies as [ProxyServer, ProxyServer];
  const ledger = openClickHouseLedger(
    proxies.map(({ url }) => `${url}/usage`),
    { cluster, patience: 1_000 },
  );
  t.teardown(() => ledger.close());
  await ledger.check();
  t.notOk(
    proxies.some(({ statements }) => statements.some(({ text }) => text.startsWith('CREATE'))),
    'a start where everything is there creates nothing',
  );
  const inserts = () =>
    proxies.flatMap(({ statements }) => statements).filter(({ text }) => text.startsWith('INSERT'));
  const everywhere = {
    max_replica_delay_for_distributed_queries: '300',
    fallback_to_stale_replicas_for_distributed_queries: '0',
    skip_unavailable_shards: '0',
    insert_distributed_sync: '1',
    insert_quorum: 'auto',
    insert_quorum_timeout: '20000',
    parallel_distributed_insert_select: '0',
    deduplicate_blocks_in_dependent_materialized_views: '1',
    distributed_ddl_task_timeout: '20',
    distributed_ddl_output_mode: 'null_status_on_timeout',
  };
  const events = [usageEvent(), usageEvent()];
  await ledger.insert(events);
  const token = inserts()[0]?.settings.insert_deduplication_token ?? '';
  t.match(token, /^[\w-]{43}$/);
  t.match(inserts()[0], {
    text: /^INSERT INTO sluice_usage /,
    settings: { ...everywhere, max_execution_time: '300', database: 'usage' },
  });
  await ledger.list(always, all);
  const reads = proxies.flatMap(({ statements }) => statements).filter(({ text }) => text.includes('FINAL'));
  t.match(reads, [{ settings: everywhere }]);

  const used =
    inserts().length > 0 && one.statements.some(({ text }) => text.startsWith('INSERT')) ? one : other;
  const spare = used === one ? other : one;
  for (const mode of ['refuse', 'hang', 'cut'] as const) {
    used.mode = mode;
    spare.statements.length = 0;
    await ledger.insert(events);
    t.match(
      spare.statements.map(({ settings }) => settings.insert_deduplication_token),
      [token],
      `${mode}: another server gets the same block with the same token`,
    );
    if (mode === 'hang') {
      const begun = used.statements.length;
      await ledger.insert(events);
      t.equal(used.statements.length, begun, 'one that hung is left alone');
    }
    used.mode = 'pass';
    // The next round begins with it.
    spare.mode = 'refuse';
    await ledger.insert([...events].reverse());
    spare.mode = 'pass';
  }
  t.not(inserts().at(-1)?.settings.insert_deduplication_token, token, 'another order is another block');

  used.mode = 'refuse';
  spare.mode = 'refuse';
  const before = used.statements.length + spare.statements.length;
  await t.rejects(ledger.insert(events), away);
  t.equal(used.statements.length + spare.statements.length - before, 2, 'each once');
  await t.rejects(ledger.check(), {
    message: /^ClickHouse at 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ cannot be used: /,
  });
});

t.test('errors of a server', async (t) => {
  let code = 242;
  const failing: Answer = async (statement, path, body) =>
    statement.text.startsWith('INSERT')
      ? [500, `Code: ${code}. DB::Exception: No. (SOMETHING)`]
      : complete(statement, path, body);
  const proxies = await startProxies(t, 3, failing);
  const ledger = openClickHouseLedger(
    proxies.map(({ url }) => url),
    { cluster },
  );
  t.teardown(() => ledger.close());
  const count = () =>
    proxies.flatMap(({ statements }) => statements).filter(({ text }) => text.startsWith('INSERT')).length;
  await t.rejects(ledger.insert([usageEvent()]), away);
  t.equal(count(), 3, 'a table that is read-only here may not be elsewhere');
  code = 285;
  await t.rejects(ledger.insert([usageEvent()]), away);
  t.equal(count(), 4, 'a shard without its quorum has none elsewhere');
  code = 6;
  await t.rejects(ledger.insert([usageEvent()]), { code: '6' }, 'the rows are at fault');
  t.equal(count(), 5);
});

t.test('a cluster of one server', { skip: clickHouseMissing({ own: true }) ?? false }, async (t) => {
  const service = await startClickHouse({ own: true, cluster: cluster.name });
  t.teardown(() => service.stop());
  const database = `ledger_${randomBytes(4).toString('hex')}`;
  const proxies = await startProxies(t, 2, forwardedTo(service.url));
  const [one, other] = proxies as [ProxyServer, ProxyServer];
  const urls = proxies.map(({ url }) => `${url}/${database}`);
  const open = (options: Parameters<typeof openClickHouseLedger>[1] = {}) =>
    openClickHouseLedger(urls, { cluster, settlingSeconds: 0, ...options });
  const client = createClient({ url: `${service.url}/${database}` });
  t.teardown(() => client.close());
  const ask = async (query: string, values: Record<string, unknown> = {}): Promise<unknown> => {
    const answer = await client.query({ query, query_params: values, format: 'JSONCompactEachRow' });
    return (await answer.json<unknown[]>())[0]?.[0];
  };

  await t.test('processes that start together create one schema', async (t) => {
    const together = Array.from({ length: 3 }, () => open());
    await Promise.all(together.map((ledger) => ledger.check()));
    await Promise.all(together.map((ledger) => ledger.close()));
    t.equal(Number(await ask('SELECT count() FROM sluice_schema FINAL')), 1);
    t.equal(
      await ask(
        "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'sluice_usage'",
      ),
      'Distributed',
    );
  });

  await t.test('contract', (t) => ledgerContract(t, () => open(), { histories: 5 }));

  await t.test('contract, with every day sealed after every insert', (t) =>
    ledgerContract(
      t,
      () =>
        sealing(openClickHouseLedger(`${service.url}/${database}_sealed`, { cluster, settlingSeconds: 0 })),
      { histories: 3 },
    ),
  );

  await t.test('a snapshot is used only when every replica has it', async (t) => {
    const [now, later] = [open({ settlingSeconds: 0 }), open({ settlingSeconds: 600 })];
    const events = [usageEvent({ subscription: 'sub_settling', time: Date.UTC(2026, 0, 5) })];
    await now.insert(events);
    await now.seal({ quietSeconds: 0 });
    await client.command({
      query:
        "ALTER TABLE sluice_usage_local DELETE WHERE subscription = 'sub_settling' SETTINGS mutations_sync = 1",
    });
    const day = { from: Date.UTC(2026, 0, 5), to: Date.UTC(2026, 0, 6), subscription: 'sub_settling' };
    t.match(await now.totals(day, [], all), [{ requests: 1 }], 'from the snapshot');
    t.strictSame(await later.totals(day, [], all), [], 'from the events');
    await Promise.all([now.close(), later.close()]);
  });

  await t.test('a token keeps a repeated block out, an id counts everything else once', async (t) => {
    const ledger = open({ patience: 10_000 });
    await ledger.check();
    await client.command({ query: 'SYSTEM STOP MERGES sluice_usage_local' });
    const events = Array.from({ length: 10 }, () => usageEvent({ subscription: 'sub_tokens' }));
    const rows = async () =>
      Number(await ask("SELECT count() FROM sluice_usage WHERE subscription = 'sub_tokens'"));
    const counted = async () =>
      (await ledger.totals({ ...always, subscription: 'sub_tokens' }, [], all))[0]?.requests;
    // Whichever gets it first takes the rows and does not say so.
    for (const proxy of proxies) {
      proxy.mode = 'cut';
      await ledger.insert(events);
      proxy.mode = 'pass';
      t.equal(await rows(), 10, 'neither server took them twice');
    }
    await ledger.insert(events.slice(3));
    t.equal(await rows(), 17, 'another block of the same events');
    t.equal(await counted(), 10);
    await client.command({ query: 'SYSTEM START MERGES sluice_usage_local' });
    await ledger.close();
  });

  await t.test('a repeated block touches its day, even if the first one did not', async (t) => {
    const ledger = open();
    const past = Date.UTC(2025, 4, 5, 12);
    const events = [usageEvent({ subscription: 'sub_touch', time: past })];
    const day = { from: Date.UTC(2025, 4, 5), to: Date.UTC(2025, 4, 6), subscription: 'sub_touch' };
    await ledger.insert([usageEvent({ subscription: 'sub_touch', time: past })]);
    await ledger.seal({ quietSeconds: 0 });
    await ledger.insert(events);
    // As if the server had died between the two tables.
    await client.command({
      query:
        "ALTER TABLE sluice_usage_touched_local DELETE WHERE day = '2025-05-05' SETTINGS mutations_sync = 1",
    });
    t.match(await ledger.totals(day, [], all), [{ requests: 1 }], 'the snapshot is out of date');
    await ledger.insert(events);
    t.equal(Number(await ask("SELECT count() FROM sluice_usage WHERE subscription = 'sub_touch'")), 2);
    t.match(await ledger.totals(day, [], all), [{ requests: 2 }], 'and is not used any more');
    await ledger.close();
  });

  await t.test('one of two servers is killed', async (t) => {
    const ledger = open();
    const events = Array.from({ length: 30 }, () => usageEvent({ subscription: 'sub_killed' }));
    for (const [index, event] of events.entries()) {
      if (index === 10) one.mode = 'refuse';
      if (index === 20) [one.mode, other.mode] = ['pass', 'refuse'];
      await ledger.insert([event]);
    }
    const filter = { ...always, subscription: 'sub_killed' };
    t.match(await ledger.totals(filter, [], all), [{ requests: 30, cost: '0.00006' }]);
    t.equal((await ledger.list(filter, all)).length, 30);
    other.mode = 'pass';
    await ledger.close();
  });

  await t.test('retention is set on the shards', async (t) => {
    const engine =
      "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'sluice_usage_local'";
    for (const [days, ttl] of [
      [400, /toIntervalDay\(400\)/],
      [0, /^((?!TTL).)*$/],
    ] as const) {
      const ledger = open({ retentionDays: days });
      await ledger.check();
      t.match(await ask(engine), ttl);
      await ledger.close();
    }
  });

  await t.test('tables of one server and of a cluster are not mixed up', async (t) => {
    const single = openClickHouseLedger(`${service.url}/${database}`);
    await t.rejects(single.check(), {
      message: /cannot be used: its tables are those of a cluster: set CLICKHOUSE_CLUSTER\.$/,
    });
    await single.close();
    const plain = openClickHouseLedger(`${service.url}/${database}_plain`);
    await plain.check();
    await plain.close();
    const mistaken = openClickHouseLedger(`${service.url}/${database}_plain`, { cluster });
    await t.rejects(mistaken.check(), {
      message:
        /cannot be used: its tables are those of a single server: name another database in CLICKHOUSE_URL\.$/,
    });
    await mistaken.close();
  });

  await t.test('every statement is what the parser of ClickHouse takes', async (t) => {
    const texts = new Set(proxies.flatMap(({ statements }) => statements).map(({ text }) => text));
    const parsed: string[] = [];
    for (const text of texts) {
      const statement = text.replace(/(?<=^INSERT[^\n]*FORMAT JSONCompactEachRow)[\s\S]*$/, '');
      parsed.push(String(await ask('SELECT formatQuerySingleLine({statement:String})', { statement })));
    }
    const of = (pattern: RegExp) => parsed.filter((text) => pattern.test(text)).length;
    t.equal(of(/^CREATE DATABASE IF NOT EXISTS .* ON CLUSTER sluice_test$/), 1);
    t.equal(
      of(
        /^CREATE TABLE IF NOT EXISTS .*_local ON CLUSTER sluice_test .* ENGINE = Replicated\w*MergeTree\('\/clickhouse\/tables\/\{shard\}\/\{database\}\/\{table\}', '\{replica\}'\)/,
      ),
      5,
    );
    t.equal(
      of(
        /^CREATE TABLE IF NOT EXISTS .* ON CLUSTER sluice_test .* ENGINE = Distributed\('sluice_test', '\w+', '\w+_local'/,
      ),
      5,
    );
    t.equal(of(/^CREATE MATERIALIZED VIEW IF NOT EXISTS .* ON CLUSTER sluice_test TO .*touched_local/), 1);
    t.equal(of(/^ALTER TABLE .*_local ON CLUSTER sluice_test \(?(MODIFY TTL|REMOVE TTL)/), 4);
    t.ok(of(/^SELECT/) > 20);
  });
});

const given = loadConfig().clickHouse;

t.test('a cluster of yours', { skip: given?.cluster === undefined && 'none is set' }, async (t) => {
  const databases = ['plain', 'sealed'].map(
    (name) => `sluice_test_${randomBytes(4).toString('hex')}_${name}`,
  );
  const open = (database = '') => {
    const urls = (given?.urls ?? []).map((url) => Object.assign(new URL(url), { pathname: database }).href);
    return openClickHouseLedger(urls, { cluster: given?.cluster, settlingSeconds: 0 });
  };
  await t.test('contract', (t) => ledgerContract(t, () => open(databases[0]), { histories: 5 }));
  await t.test('contract, with every day sealed after every insert', (t) =>
    ledgerContract(t, () => sealing(open(databases[1])), { histories: 3 }),
  );
  const client = createClient({ url: given?.urls[0] ?? '' });
  for (const database of databases)
    await client.command({ query: `DROP DATABASE ${database} ON CLUSTER '${given?.cluster?.name}' SYNC` });
  await client.close();
});

t.test('replicas', { skip: clickHouseMissing({ own: true }) ?? keeperMissing() ?? false }, async (t) => {
  const keeper = await startKeeper();
  t.teardown(() => keeper.stop());
  for (const replica of ['one', 'two']) {
    const service = await startClickHouse({
      own: true,
      cluster: cluster.name,
      keeper: { port: keeper.port, replica },
    });
    t.teardown(() => service.stop());
    const place = { database: 'ledger', cluster: cluster.name };
    const client = createClient({ url: service.url });
    // Only servers have an endpoint for replicas: here tables are created, but nothing can be inserted.
    for (const query of ['CREATE DATABASE ledger', ...creatingTable(schemaTable, place), ...creating(place)])
      await client.command({ query });
    const answer = await client.query({
      query: 'SELECT table, zookeeper_path, replica_name, total_replicas FROM system.replicas ORDER BY table',
      format: 'JSONCompactEachRow',
    });
    const path = (name: string) => `/clickhouse/tables/1/ledger/${name}_local`;
    t.strictSame(
      await answer.json(),
      ['schema', 'usage_by_day', 'usage', 'usage_seals', 'usage_touched'].map((name) => [
        `sluice_${name}_local`,
        path(`sluice_${name}`),
        replica,
        replica === 'one' ? 1 : 2,
      ]),
      'they meet under one path',
    );
    await client.close();
  }
});
