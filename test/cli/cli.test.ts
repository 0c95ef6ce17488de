/** Tests the `sluice` command as a process: shared stores, concurrent starts and invalid arguments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openState } from '../../src/adapters/state/open.ts';
import { run } from '../../src/cli/main.ts';
import { createKeys } from '../../src/keys/keys.ts';
import { callerOf } from '../keys/caller-of.ts';
import { onlyLong, someOf } from '../long.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { main, sluice } from './spawned.ts';

/** Runs it in this process: for what ends before any store is opened. */
const said = async (t: Test, ...words: string[]) => {
  const out = t.capture(process.stdout, 'write', () => true);
  const err = t.capture(process.stderr, 'write', () => true);
  const code = await run(words);
  const joined = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
  const result = { code, out: joined(out()), err: joined(err()) };
  out.restore();
  err.restore();
  return result;
};

t.test('help and version at every level', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  t.strictSame(await said(t, '--version'), { code: 0, out: `${version}\n`, err: '' });
  const overview = await said(t, '--help');
  t.match(overview, { code: 0, err: '' });
  for (const words of [[], ['-h'], ['help']]) t.strictSame(await said(t, ...words), overview);
  const names = [...overview.out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(([, name]) => name ?? '');
  t.ok(names.includes('serve') && names.includes('keys revoke') && names.includes('subscriptions close'));
  for (const name of names) {
    const help = await said(t, ...name.split(' '), '--help');
    t.match(help, { code: 0, err: '', out: new RegExp(`^Usage: sluice ${name}.*\\n\\n[A-Z].*\\.\\n`) });
  }
  t.strictSame(await said(t, 'keys', '--help'), {
    code: 0,
    err: '',
    out: [
      'Usage: sluice keys COMMAND [OPTIONS]',
      '',
      'Commands:',
      '  keys create   make a key and print its secret, this once',
      '  keys list     show keys, without their secrets',
      '  keys update   change what a key may be used for',
      '  keys rotate   give a key a new secret; the former one works a while longer',
      '  keys suspend  refuse a key until it is resumed',
      '  keys resume   accept a suspended key again',
      '  keys revoke   close a key for good',
      '',
    ].join('\n'),
  });
});

t.test('invalid arguments give a one-line error and exit code 2', async (t) => {
  const which = 'say which key: KEY, or --subscription with --name or --all';
  const wrong: [string, string][] = [
    ['frobnicate', 'sluice: there is no command "frobnicate"; sluice --help lists them'],
    ['--frobnicate', 'sluice: there is no command "--frobnicate"; sluice --help lists them'],
    ['kyes', 'sluice: there is no command "kyes"; sluice --help lists them; did you mean keys?'],
    ['help keysx', 'sluice: there is no command "keysx"; sluice --help lists them; did you mean keys?'],
    [
      'keys revok',
      'sluice: keys takes one of create, list, update, rotate, suspend, resume, revoke, not "revok"; did you mean revoke?',
    ],
    ['chat Hello', 'sluice chat: say which key to use: --key KEY, or set SLUICE_KEY'],
    ['completion tcsh', 'sluice completion: there are completions for bash, zsh, fish, not "tcsh"'],
    ['keys', 'sluice: keys takes one of create, list, update, rotate, suspend, resume, revoke'],
    [
      'keys burn',
      'sluice: keys takes one of create, list, update, rotate, suspend, resume, revoke, not "burn"',
    ],
    ['keys create --colour', "sluice keys create: Unknown option '--colour'"],
    ['keys create --name', "sluice keys create: Option '--name <value>' argument missing"],
    ['keys create --json=1', "sluice keys create: Option '--json' does not take an argument"],
    ['keys create laptop', 'sluice keys create: "laptop" is one word too many'],
    ['keys revoke', `sluice keys revoke: ${which}`],
    ['keys revoke --all', `sluice keys revoke: ${which}`],
    ['keys revoke --subscription s', `sluice keys revoke: ${which}`],
    ['keys revoke --subscription s --all --name n', `sluice keys revoke: ${which}`],
    ['keys revoke key_1 --name n', `sluice keys revoke: ${which}`],
    ['subscriptions create', 'sluice subscriptions create: NAME is missing'],
    ['subscriptions close a b', 'sluice subscriptions close: "b" is one word too many'],
    ['simulate --port none', 'sluice simulate: --port must be a number from 0 to 65535'],
    ['simulate --rate 0', 'sluice simulate: --rate must be a number from 0.1 to 1000000'],
    ['serve now', 'sluice serve: "now" is one word too many'],
  ];
  for (const [words, err] of wrong)
    t.strictSame(await said(t, ...words.split(' ')), { code: 2, out: '', err: `${err}\n` }, words);
});

t.test('keys and subscriptions in a file that another process uses', { skip: onlyLong }, async (t) => {
  const environment = { SLUICE_DATA: join(t.testdir(), 'data') };
  const call = (...words: string[]) => sluice(environment, ...words);
  const parsed = async (...words: string[]) => JSON.parse((await call(...words, '--json')).out);

  const subscription = await call('subscriptions', 'create', 'Acme & Söhne');
  t.match(subscription, { code: 0, out: /^sub_[0-9a-f]{24}\n$/, err: /^Next, a key for it: sluice keys/ });
  const id = subscription.out.trim();

  // The store stays open here, as in a running gateway.
  const state = await openState({ dataDir: environment.SLUICE_DATA, redis: undefined });
  t.teardown(() => state.close());
  let time = 0;
  const gateway = createKeys(state, { now: () => time });
  const status = (secret: string) =>
    callerOf(gateway, secret).then(
      () => 200,
      (error: { status: number }) => error.status,
    );

  const created = await call('keys', 'create', '--subscription', 'Acme & Söhne', '--name', 'laptop');
  t.match(created, { code: 0, out: /^sk-sluice-\w{43}\n$/, err: /Shown once: keep it now/ });
  const secret = created.out.trim();
  const second = await parsed('keys', 'create', '--subscription', id);
  t.match(second, { id: /^key_/, subscription: id, name: '', status: 'active', secret: /^sk-sluice-/ });
  t.equal(await status(secret), 200, 'usable at once');
  t.equal(await status(second.secret), 200);

  const listed = await call('keys', 'list', '--subscription', id, '--json');
  t.notMatch(listed.out, secret);
  const [first] = JSON.parse(listed.out);
  const date = new Date(first.created * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const other = new Date(second.created * 1000).toISOString().slice(0, 16).replace('T', ' ');
  t.strictSame(await call('keys', 'list'), {
    code: 0,
    err: '',
    out: [
      'KEY                           SUBSCRIPTION                  NAME    STATUS  CREATED (UTC)     SECRET',
      `${first.id}  ${id}  laptop  active  ${date}  sk-sluice-…${secret.slice(-4)}`,
      `${second.id}  ${id}          active  ${other}  sk-sluice-…${second.secret.slice(-4)}`,
      '',
    ].join('\n'),
  });

  const five = 'A running gateway obeys within 5 seconds.\n';
  t.strictSame(await call('keys', 'suspend', '--subscription', id, '--name', 'laptop'), {
    code: 0,
    out: `${first.id} (laptop) is suspended.\n`,
    err: five,
  });
  time += 5000;
  t.equal(await status(secret), 401, 'suspended');
  t.match(await call('keys', 'resume', first.id), { code: 0, out: `${first.id} (laptop) is active.\n` });
  time += 5000;
  t.equal(await status(secret), 200, 'resumed');
  t.match(await call('keys', 'revoke', second.secret), { code: 0, out: `${second.id} is closed.\n` });
  time += 5000;
  t.equal(await status(second.secret), 401, 'revoked');
  t.match(await parsed('subscriptions', 'suspend', id), { id, status: 'suspended' });
  time += 5000;
  t.equal(await status(secret), 401, 'its subscription is suspended');
  t.match(await parsed('keys', 'revoke', '--subscription', id, '--all'), [
    { id: first.id, status: 'closed' },
  ]);
  t.match(await call('subscriptions', 'close', id), { code: 0, out: `${id} (Acme & Söhne) is closed.\n` });
  t.match(await parsed('subscriptions', 'list'), [{ id, name: 'Acme & Söhne', status: 'closed' }]);
});

t.test('failures give a one-line error and exit code 1', async (t) => {
  const folder = t.testdir({ file: '', text: { 'state.db': 'no database '.repeat(500) } });
  const data = { SLUICE_DATA: join(folder, 'data') };
  const state = await openState({ dataDir: data.SLUICE_DATA, redis: undefined });
  await state.close();
  const cases: [Record<string, string>, string, RegExp][] = [
    [{ SLUICE_DATA: join(folder, 'none') }, 'keys list', /^sluice keys list: There is no store in .*none\. /],
    [{ SLUICE_DATA: join(folder, 'none') }, 'keys create', /^sluice keys create: There is no store in /],
    [{ SLUICE_DATA: join(folder, 'none') }, 'usage', /^sluice usage: There is no store in /],
    [data, 'keys create', /^sluice keys create: There is no subscription "default"\n$/],
    [data, 'keys suspend key_1', /^sluice keys suspend: There is no key "key_1"\n$/],
    [
      { SLUICE_DATA: join(folder, 'file') },
      'subscriptions create a',
      /^sluice subscriptions create: Cannot write .*: E[A-Z]+: .*\.\n$/,
    ],
    [
      { SLUICE_DATA: join(folder, 'text') },
      'keys list',
      /^sluice keys list: Cannot use .* not a SQLite database\.\n$/,
    ],
    [{ REDIS_URL: 'nonsense' }, 'keys list', /^sluice keys list: REDIS_URL must be .*\n$/],
    [
      { REDIS_URL: 'redis://user:password@127.0.0.1:1' },
      'keys list',
      /^sluice keys list: Redis at 127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1\.\n$/,
    ],
  ];
  await Promise.all(
    someOf(cases, 4).map(async ([environment, words, err]) =>
      t.match(await sluice(environment, ...words.split(' ')), { code: 1, out: '', err }, words),
    ),
  );
  t.notOk(existsSync(join(folder, 'none')), 'looking creates nothing');
});

t.test('processes that start together on a new file all succeed', async (t) => {
  const environment = { SLUICE_DATA: join(t.testdir(), 'data') };
  const names = ['a', 'b', 'c', 'd'];
  const outcomes = await Promise.all(
    names.map((name) => sluice(environment, 'subscriptions', 'create', name)),
  );
  for (const outcome of outcomes) t.match(outcome, { code: 0, out: /^sub_/ });
  const state = await openState({ dataDir: environment.SLUICE_DATA, redis: undefined });
  const found = await createKeys(state).listSubscriptions();
  await state.close();
  t.strictSame(found.map(({ name }) => name).sort(), names);
});

t.test('the simulator runs until it is stopped', async (t) => {
  const child = spawn(process.execPath, [main, 'simulate', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  const [line] = await once(child.stdout, 'data');
  const url = /^Simulator listens on (http:\/\/127\.0\.0\.1:\d+\/v1)\n$/.exec(String(line))?.[1];
  t.equal((await fetch(`${url}/models`)).status, 200);
  child.kill('SIGTERM');
  t.strictSame(await exit, [0, null]);
});

t.test('keys in Redis', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const service = await startRedis({ own: true });
  t.teardown(() => service.stop());
  const environment = { REDIS_URL: service.url };
  const { out } = await sluice(environment, 'subscriptions', 'create', 'acme');
  const created = await sluice(environment, 'keys', 'create', '--subscription', 'acme');
  t.match(created, { code: 0, out: /^sk-sluice-/ });
  const state = await openState({ dataDir: 'unused', redis: service.url });
  t.teardown(() => state.close());
  t.match(await callerOf(createKeys(state), created.out.trim()), {
    subscription: out.trim(),
  });
});
