/** Tests GET /usage, `sluice usage` and a gateway whose disk is full. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { openDamage } from '../../src/billing/journal/damage.ts';
import { run } from '../../src/cli/main.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { rewriteLedger } from './rewrite-ledger.ts';
import { usageEvent } from './usage-events.ts';

/** Runs the command in this process, on that data folder. */
const sluice = async (t: Test, dataDir: string, ...words: string[]) => {
  process.env.SLUICE_DATA = dataDir;
  const out = t.capture(process.stdout, 'write', () => true);
  const err = t.capture(process.stderr, 'write', () => true);
  const code = await run(words);
  const joined = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
  const result = { code, out: joined(out()), err: joined(err()) };
  out.restore();
  err.restore();
  delete process.env.SLUICE_DATA;
  return result;
};

const chat = (gateway: TestGateway, prompt: string): Promise<Response> =>
  fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/chat', messages: [{ role: 'user', content: prompt }] }),
  });

const get = async (gateway: TestGateway, path: string, key = gateway.key) => {
  const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

/** The shipper moves by itself; the ledger has it a moment later. */
const shipped = (gateway: TestGateway, requests: number): Promise<true> =>
  eventually(async () => {
    const { body } = await get(gateway, '/usage?group_by=route');
    return body.data[0]?.requests === requests;
  }, `${requests} in the ledger`);

t.test("usage of the caller's subscription, in totals and by request", async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  for (const tokens of [3, 4, 5]) t.equal((await chat(gateway, `/sim tokens=${tokens}\nhi`)).status, 200);
  t.equal((await chat(gateway, '/sim fail=503@0\nhi')).status, 503);
  await shipped(gateway, 4);

  const day = new Date().toISOString().slice(0, 10);
  const { body: totals } = await get(gateway, '/usage?group_by=day,model');
  const [{ prompt_tokens: prompt, cost }] = totals.data;
  const quantities = { cached_tokens: 0, reasoning_tokens: 0, inputs: 0, megapixels: 0, seconds: 0 };
  t.match(totals, { object: 'list', group_by: ['day', 'model'], has_more: false, links: { next: null } });
  t.ok(Number.isInteger(totals.from) && totals.from < totals.to);
  t.strictSame(totals.data, [
    {
      object: 'usage.total',
      day,
      model: 'sluice/chat',
      requests: 4,
      failed: 1,
      prompt_tokens: prompt,
      completion_tokens: 12,
      ...quantities,
      cost,
    },
  ]);
  t.match(cost, /^0\.0000\d+$/);

  // All pages, by their links.
  const rows: { id: string; completion_tokens: number; outcome: string; cost: string }[] = [];
  let path: string | null = '/usage?group_by=request&limit=3';
  for (let page = 0; path !== null && page < 9; page++) {
    const { body }: { body: { data: typeof rows; has_more: boolean; links: { next: string | null } } } =
      await get(gateway, path);
    t.equal(body.has_more, body.links.next !== null);
    rows.push(...body.data);
    path = body.links.next?.replace('/v1', '') ?? null;
  }
  t.strictSame(
    rows.map((row) => [row.outcome, row.completion_tokens]),
    [
      ['completed', 3],
      ['completed', 4],
      ['completed', 5],
      ['failed', 0],
    ],
  );
  t.match(rows[0], {
    object: 'usage.request',
    id: /^usage_req_/,
    request_id: /^req_/,
    created: Number,
    key: /^key_/,
    route: '/chat/completions',
    model: 'sluice/chat',
    status: 200,
    ...quantities,
    cost: /^0\.0000\d+$/,
  });
  t.match(await get(gateway, '/usage?group_by=key&limit=1'), {
    body: { has_more: false, data: [{ key: /^key_/ }] },
  });
  t.strictSame((await get(gateway, '/usage?from=2020-01-01&to=2020-02-01')).body.data, []);
  t.match((await get(gateway, `/usage?from=${day}`)).body.data, [{ day, requests: 4 }]);
  t.match((await get(gateway, `/usage?from=${day}T00:00:00Z&to=4000000000`)).body.data, [
    { day, requests: 4 },
  ]);

  const management = createKeyManagement(gateway.ports.state);
  const other = await management.createSubscription('another');
  const { secret } = await management.createKey({ subscription: other.id });
  t.strictSame(
    (await get(gateway, '/usage', secret)).body.data,
    [],
    'another subscription sees nothing of it',
  );

  await t.test('errors name the invalid parameter', async (t) => {
    const wrong: Record<string, RegExp> = {
      'from=yesterday': /^from must be a date/,
      'from=2026-02-30': /^from must be a date/,
      'to=2026-11-01T10:00:00': /^to must be a date/,
      'from=2026-11-02&to=2026-11-02': /^from must be before to$/,
      'group_by=colour': /^group_by must be some of day, model, key, route/,
      'group_by=day,day': /^group_by must be/,
      'group_by=subscription': /^group_by must be/,
      'group_by=': /^group_by must be/,
      'limit=0': /^limit must be/,
      'limit=1001': /^limit must be/,
      'after=nonsense': /^after must be a cursor/,
      [`group_by=request&after=${Buffer.from('["x","y"]').toString('base64url')}`]: /^after must be a cursor/,
      [`group_by=day,model&after=${Buffer.from('["x"]').toString('base64url')}`]: /^after must be a cursor/,
    };
    for (const [query, message] of Object.entries(wrong))
      t.match(
        await get(gateway, `/usage?${query}`),
        { status: 400, body: { error: { code: 400, message, metadata: { error_type: 'invalid_request' } } } },
        query,
      );
    t.match(await get(gateway, '/usage', 'sk-wrong'), {
      status: 401,
      body: { error: { type: 'auth_error' } },
    });
    const posted = await fetch(`${gateway.url}/usage`, { method: 'POST' });
    t.strictSame([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    t.ok((await get(gateway, '/openapi.json')).body.paths['/usage'].get.parameters.length === 5);
  });

  await t.test('the command line, beside the running gateway', async (t) => {
    const dataDir = join(gateway.folder, 'data');
    const usage = (...words: string[]) => sluice(t, dataDir, 'usage', ...words);
    const byDay = await usage('--group-by', 'day,subscription');
    const csv = await usage('--csv', '--group-by', 'request', '--subscription', 'default');
    const json = await usage('--json', '--from', day);
    const verified = await usage('verify');
    t.match(byDay, { code: 0, err: '' });
    t.match(byDay.out.split('\n')[1], new RegExp(`^${day} +sub_\\w+ +4 +1 +${prompt} +12 `));
    const lines = csv.out.trimEnd().split('\n');
    t.equal(lines.length, 5);
    t.match(
      lines[0],
      /^created,id,request_id,subscription,key,route,model,outcome,status,prompt_tokens,.*,cost$/,
    );
    t.match(lines[1], /,completed,200,\d+,3,0,0,0,0,0,0\.0000\d+$/);
    t.match(JSON.parse(json.out), [{ day, requests: 4, cost }]);
    t.match(verified, { code: 0, out: /^ledger +found +4$/m });
    for (const [words, err] of [
      [['--from', 'now'], /^sluice usage: --from must be a date/],
      [['--group-by', 'x'], /^sluice usage: --group-by must be some of hour, day, month/],
      [['--csv', '--json'], /exclude each other/],
    ] as const)
      t.match(await usage(...words), { code: 2, err });
    t.match(await sluice(t, dataDir, 'billing'), { code: 1, err: /KAFKA_BROKERS is not set/ });

    const journals = join(dataDir, 'journal');
    openDamage(journals, pino({ level: 'silent' })).damaged(join(journals, '7-1-abc'), [
      { segment: 3, offset: 12, bytes: Buffer.from('half') },
    ]);
    const damaged = await usage('verify');
    t.match(damaged, {
      code: 1,
      err: /^damaged: 4 bytes of journal 7-1-abc, segment 3 at 12, set aside 20.*\ndamaged\.log .*\nsluice usage verify: they differ\n$/,
    });
    t.match(damaged.out, /^journal +set aside as damaged +1$/m);
    rmSync(join(journals, 'damaged.log'));
    t.match(await usage('verify'), { code: 0, err: '' });

    const first = rows[0]?.id ?? '';
    rewriteLedger(join(dataDir, 'ledger.db'), (event) => (event.id === first ? undefined : event));
    const broken = await usage('verify');
    t.match(broken, { code: 1, err: `missing: ${first}\nsluice usage verify: they differ\n` });
    t.match(broken.out, /^ledger +missing +1$/m);
  });

  await t.test('while the ledger is unavailable /usage is 503 and requests are served', async (t) => {
    const { ledger } = gateway.ports;
    const { totals } = ledger;
    const closed = openLibsqlLedger(join(gateway.folder, 'closed.db'));
    await closed.close();
    ledger.totals = closed.totals;
    t.match(await get(gateway, '/usage'), {
      status: 503,
      body: { error: { message: 'The usage ledger is unavailable' } },
    });
    ledger.totals = totals;
    t.equal((await chat(gateway, 'hi')).status, 200);
  });
});

t.test('a full disk refuses billable requests with 503 and loses nothing', async (t) => {
  const disk = smallDisk(t);
  if (disk === undefined) return;
  const gateway = await startGateway({ env: { SLUICE_DATA: join(disk, 'data') } });
  t.teardown(() => gateway.stop());
  const completed: string[] = [];
  const ask = async (): Promise<number> => {
    const response = await chat(gateway, '/sim tokens=2\nhi');
    const body = await response.json();
    if (response.ok) completed.push(`usage_${response.headers.get('x-request-id')}`);
    else t.match(body, { error: { code: 503, message: 'Usage cannot be recorded at the moment' } });
    return response.status;
  };
  t.equal(await ask(), 200);
  const filler = join(disk, 'filler');
  fill(filler);
  // Until the last block of the journal is full, and the one that finds it so is kept in the reserve.
  for (let count = 0; count < 50; count++) if ((await ask()) === 503) break;
  for (let count = 0; count < 9; count++) t.equal(await ask(), 503);
  t.equal((await get(gateway, '/models')).status, 200, 'the rest of it goes on');
  rmSync(filler);
  let status = 0;
  for (let turn = 0; turn < 200 && status !== 200; turn++) {
    status = await ask();
    await delay(25);
  }
  t.equal(status, 200, 'open again');
  for (let turn = 0; turn < 400; turn++) {
    if ((await get(gateway, '/usage?group_by=request')).body.data.length >= completed.length) break;
    await delay(25);
  }
  const { body } = await get(gateway, '/usage?group_by=request');
  t.strictSame(new Set(body.data.map(({ id }: { id: string }) => id)), new Set(completed));
});

/** A disk of twelve megabytes; undefined, and said so, where none can be made. */
const smallDisk = (t: Test): string | undefined => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', folder]).status !== 0) {
    rmSync(folder, { recursive: true });
    t.comment('no small disk: mounting one takes root; the journal’s own test has a scripted one');
    return undefined;
  }
  t.teardown(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
};

const fill = (file: string): void => {
  for (const size of [64 * 1024, 1024, 1]) {
    const piece = Buffer.alloc(size);
    try {
      for (let count = 0; count < 20_000; count++) appendFileSync(file, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
};

t.test('an event of another kind of quantity is shown as it was billed', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const dataDir = join(gateway.folder, 'data');
  const ledger = openLibsqlLedger(join(dataDir, 'ledger.db'));
  const nothing = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };
  await ledger.insert([
    usageEvent({
      time: Date.now(),
      subscription: 'sub_pictures',
      route: '/images',
      quantities: { ...nothing, megapixels: '1.048576', inputs: 1 },
      cost: '0.041943040000000001',
    }),
  ]);
  await ledger.close();
  const { out } = await sluice(
    t,
    dataDir,
    'usage',
    '--group-by',
    'route',
    '--json',
    '--subscription',
    'sub_pictures',
  );
  t.strictSame(JSON.parse(out), [
    {
      object: 'usage.total',
      route: '/images',
      requests: 1,
      failed: 0,
      ...nothing,
      inputs: 1,
      megapixels: 1.048576,
      seconds: 0,
      cost: '0.041943040000000001',
    },
  ]);
});
