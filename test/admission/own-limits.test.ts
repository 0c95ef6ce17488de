/** Tests limits of a subscription: set by command, applied by a running gateway, reported when reached. */
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { run } from '../../src/cli/main.ts';
import { openLimitsBook } from '../../src/limits/book.ts';
import { createLimitsManagement } from '../../src/limits/manage.ts';
import type { State } from '../../src/ports/state.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

const usual = { concurrency: 10, requests_per_minute: 100 };

t.test('the limits book', async (t) => {
  const open = (t: Test) => {
    const state = openLibsqlState(join(t.testdir(), 'state.db'));
    t.teardown(() => state.close());
    const lines: { msg: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    return { state, limits: createLimitsManagement(state), log, lines };
  };

  t.test('limits of a model override limits for all models, which override the catalog', async (t) => {
    const { state, limits, log } = open(t);
    await limits.set('sub_a', undefined, { concurrency: 3 });
    await limits.set('sub_a', 'acme/one', { requests_per_minute: 7 });
    await limits.set('sub_a', 'acme/one', { concurrency: 2 });
    await limits.set('sub_a', '__proto__', { concurrency: 1 });
    const book = await openLimitsBook(state, { log });
    t.teardown(() => book.close());
    t.strictSame(book.of('sub_a', 'acme/one', usual), { concurrency: 2, requests_per_minute: 7 });
    t.strictSame(book.of('sub_a', 'acme/two', usual), { concurrency: 3, requests_per_minute: 100 });
    t.strictSame(book.of('sub_a', '__proto__', usual), { concurrency: 1, requests_per_minute: 100 });
    t.equal(book.of('sub_b', 'acme/one', usual), usual);
  });

  t.test('refuses invalid limits, and limits for too many models', async (t) => {
    const { limits } = open(t);
    await t.rejects(limits.set('sub_a', undefined, { concurrency: 0 }), {
      status: 400,
      message: 'concurrency must be >= 1',
    });
    await t.rejects(limits.set('sub_a', undefined, { requests_per_minute: 1.5 }), {
      name: 'ApiError',
      status: 400,
    });
    const models = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${index}`, {}]));
    const { state, limits: more } = open(t);
    await state.create('limits', { id: 's', owner: 's', value: { subscription: 's', all: {}, models } });
    await t.rejects(more.set('s', 'one-more', { concurrency: 1 }), { name: 'ApiError', status: 400 });
    t.ok(await more.set('s', 'm0', { concurrency: 1 }));
  });

  t.test('reads only changes, and keeps the last known limits when the store fails', async (t) => {
    const { state, limits, log, lines } = open(t);
    let reads = 0;
    let broken = false;
    const watched: State = {
      ...state,
      get: (kind, id) => (broken ? Promise.reject(new Error('gone')) : state.get(kind, id)),
      list: (kind, query) => {
        reads++;
        return state.list(kind, query);
      },
    };
    const book = await openLimitsBook(watched, { log, refreshMs: 10, most: 1 });
    t.teardown(() => book.close());
    const concurrency = () => book.of('sub_a', 'acme/one', usual).concurrency;
    await limits.set('sub_a', undefined, { concurrency: 3 });
    await eventually(() => concurrency() === 3);
    const before = reads;
    await new Promise((resolve) => setTimeout(resolve, 100));
    t.ok(reads <= before + 1, 'a change is noticed by its notice');
    broken = true;
    await eventually(() => lines.length === 1);
    t.equal(concurrency(), 3);
    broken = false;
    await limits.clear('sub_a', undefined);
    await eventually(() => concurrency() === 10);
    t.match(lines, [
      { level: 40, msg: 'limits read failed; the cached ones stay' },
      { level: 30, msg: 'limits recovered' },
    ]);
    await limits.set('sub_a', undefined, { concurrency: 3 });
    await limits.set('sub_b', undefined, { concurrency: 3 });
    await eventually(() => lines.length > 2);
    t.match(lines[2], { level: 50, msg: /too many subscriptions with limits/ });
  });
});

t.test('limits set while the gateway runs apply within seconds', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const { SLUICE_DATA: formerData } = process.env;
  process.env.SLUICE_DATA = join(gateway.folder, 'data');
  t.teardown(() => {
    if (formerData === undefined) delete process.env.SLUICE_DATA;
    else process.env.SLUICE_DATA = formerData;
  });
  const sluice = async (...words: string[]) => {
    const out = t.capture(process.stdout, 'write', () => true);
    const err = t.capture(process.stderr, 'write', () => true);
    const code = await run(words);
    const text = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
    const said = { code, out: text(out()), err: text(err()) };
    out.restore();
    err.restore();
    return said;
  };
  const chat = async (body: object = {}) => {
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sluice/chat',
        messages: [{ role: 'user', content: '/sim tokens=1 first=1ms' }],
        ...body,
      }),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: await response.json(),
    };
  };

  const soon = 'A running gateway obeys within 5 seconds.\n';
  t.strictSame(await sluice('limits', 'list'), {
    code: 0,
    out: '',
    err: 'None: the limits in the catalog hold.\n',
  });
  t.equal((await chat()).status, 200);
  const changedAt = performance.now();
  t.strictSame(
    await sluice('limits', 'set', '--subscription', 'default', '--model', 'sluice/chat', '--rpm', '1'),
    {
      code: 0,
      out: 'SUBSCRIPTION  MODEL        CONCURRENCY  RPM\nsub_default   sluice/chat  –              1\n',
      err: soon,
    },
  );
  let answer = await chat();
  while (answer.status === 200 && performance.now() < changedAt + 10_000) answer = await chat();
  t.ok(performance.now() - changedAt < 5000);
  t.match(answer, {
    status: 429,
    retryAfter: /^([1-9]|[1-5]\d|60)$/,
    body: {
      error: {
        code: 429,
        message: 'Rate limit reached for sluice/chat: 1 requests per minute',
        type: 'rate_limit_error',
        metadata: { error_type: 'rate_limit_exceeded' },
      },
    },
  });
  const response = await fetch(`${gateway.url}/messages`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sluice/chat',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  t.equal(response.status, 429);
  t.match(response.headers.get('retry-after'), /^\d+$/);
  t.match(await response.json(), { type: 'error', error: { type: 'rate_limit_error' } });

  t.match(await sluice('limits', 'set', '--subscription', 'default', '--concurrency', '5', '--json'), {
    code: 0,
    err: '',
    out: /"concurrency": 5/,
  });
  t.match(
    await sluice('limits', 'set', '--subscription', 'default', '--model', 'acme/none', '--concurrency', '1'),
    { code: 0, err: `The catalog has no model acme/none yet.\n${soon}` },
  );
  t.strictSame(await sluice('limits', 'list', '--subscription', 'sub_default'), {
    code: 0,
    out: [
      'SUBSCRIPTION  MODEL        CONCURRENCY  RPM',
      'sub_default   (all)                  5    –',
      'sub_default   sluice/chat            –    1',
      'sub_default   acme/none              1    –',
      '',
    ].join('\n'),
    err: '',
  });
  t.strictSame(await sluice('limits', 'clear', '--subscription', 'default', '--model', 'acme/none'), {
    code: 0,
    out: '',
    err: soon,
  });
  t.strictSame(await sluice('limits', 'clear', '--subscription', 'default', '--model', 'acme/none'), {
    code: 0,
    out: '',
    err: 'Subscription sub_default has no such limits of its own.\n',
  });
  t.strictSame(await sluice('limits', 'clear', '--subscription', 'default'), { code: 0, out: '', err: soon });
  const clearedAt = performance.now();
  while (answer.status === 429 && performance.now() < clearedAt + 10_000) answer = await chat();
  t.equal(answer.status, 200);

  const wrong: [string, string][] = [
    ['limits set --rpm 5', 'limits set: say whose: --subscription SUBSCRIPTION'],
    [
      'limits set --subscription default',
      'limits set: say what to limit, at least one of --concurrency NUMBER, --rpm NUMBER, --tpm NUMBER, --prompt-tpm NUMBER, --completion-tpm NUMBER',
    ],
    [
      'limits set --subscription default --rpm 0',
      'limits set: --rpm takes a whole number from 1 to 1000000, not "0"',
    ],
    [
      'limits set --subscription default --concurrency 1e3',
      'limits set: --concurrency takes a whole number from 1 to 100000, not "1e3"',
    ],
    ['limits clear', 'limits clear: say whose: --subscription SUBSCRIPTION'],
  ];
  for (const [words, err] of wrong)
    t.strictSame(await sluice(...words.split(' ')), { code: 2, out: '', err: `sluice ${err}\n` }, words);
  t.match(await sluice('limits', 'set', '--subscription', 'nobody', '--rpm', '5'), {
    code: 1,
    err: 'sluice limits set: There is no subscription "nobody"\n',
  });
});
