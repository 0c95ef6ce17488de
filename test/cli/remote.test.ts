/** Tests commands over the admin API of a gateway: the same output as on its store, and what only a gateway knows. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../src/cli/main.ts';
import { adminEnv, adminOf, adminToken } from '../admin/client.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { sluice } from './spawned.ts';

const gateway = await startGateway({ env: adminEnv });
t.teardown(() => gateway.stop());
const call = adminOf(gateway);
const target = ['--url', String(gateway.adminUrl), '--token', adminToken];

/** In this process: a gateway is reached over HTTP all the same. */
const said = async (t: Test, words: string, ...more: string[]) => {
  const out = t.capture(process.stdout, 'write', () => true);
  const err = t.capture(process.stderr, 'write', () => true);
  const code = await run([...words.split(' '), ...more, ...target]);
  const joined = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
  const result = { code, out: joined(out()), err: joined(err()) };
  out.restore();
  err.restore();
  return result;
};

const parsed = async (t: Test, words: string, ...more: string[]) =>
  JSON.parse((await said(t, words, ...more, '--json')).out);

t.test('keys, subscriptions and limits', async (t) => {
  const subscription = await parsed(t, 'subscriptions create', 'Acme & Söhne');
  t.match(subscription, { id: /^sub_/, name: 'Acme & Söhne', status: 'active' });
  t.strictSame(Object.keys(subscription), ['id', 'name', 'status', 'created'], 'as the store has it');
  const created = await parsed(
    t,
    'keys create --name laptop --models sluice/* --subscription',
    'Acme & Söhne',
  );
  const { secret, ...key } = created;
  t.match(key, { id: /^key_/, subscription: subscription.id, models: ['sluice/*'] });
  t.match(await said(t, 'keys list --subscription', 'Acme & Söhne'), {
    code: 0,
    out: /^KEY .*\nkey_\w+ +sub_\w+ +laptop +active .* sluice\/\* .*\n$/,
  });
  t.strictSame(await parsed(t, `keys list --subscription ${subscription.id}`), [{ ...key, last_used: null }]);
  t.match(await parsed(t, `keys update ${key.id} --name desk`), { name: 'desk' });
  const rotated = await parsed(t, `keys rotate ${key.id} --overlap 1h`);
  t.equal((await parsed(t, `keys list --subscription ${subscription.id}`)).length, 2, 'both secrets');
  t.strictSame(await said(t, `keys suspend ${rotated.secret}`), {
    code: 0,
    out: `${key.id} (desk) is suspended.\n`,
    err: 'A running gateway obeys within 5 seconds.\n',
  });
  t.not(secret, rotated.secret);
  t.match(await said(t, `keys revoke --all --subscription ${subscription.id}`), { code: 0 });
  t.match(await said(t, 'keys list --subscription nobody'), {
    code: 1,
    out: '',
    err: 'sluice keys list: There is no subscription "nobody"\n',
  });
  t.match(await said(t, `limits set --subscription ${subscription.id} --concurrency 12 --model a/none`), {
    code: 0,
    out: /^SUBSCRIPTION +MODEL +CONCURRENCY +RPM\nsub_\w+ +a\/none +12 +–\n$/,
    err: /The catalog has no model a\/none yet\./,
  });
  t.match(await parsed(t, 'limits list'), [{ models: { 'a/none': { concurrency: 12 } } }]);
  t.match(await parsed(t, `limits clear --subscription ${subscription.id}`), { cleared: true });
  t.match(await parsed(t, `limits clear --subscription ${subscription.id}`), { cleared: false });
  t.match(await parsed(t, `subscriptions close ${subscription.id}`), { status: 'closed' });
  t.match((await call('GET', '/audit?limit=1')).body.data, [
    { action: 'subscription.close', who: 'SLUICE_ADMIN_TOKEN' },
  ]);
});

t.test('budgets', async (t) => {
  const created = await parsed(t, 'budgets create --subscription default --amount 5 --period month');
  t.match(created, { id: /^bud_/, subscription: 'sub_default', amount: '5', period: 'month' });
  t.match((await said(t, 'budgets list')).out, /^BUDGET .*\nbud_\w+ +sub_default +5 +month +UTC +0 +5 /);
  t.match(await parsed(t, `budgets update ${created.id} --amount 6`), { amount: '6' });
  t.match(await parsed(t, 'budgets list'), [{ id: created.id, amount: '6', left: '6', reserved: '0' }]);
  t.match(await said(t, `budgets remove ${created.id}`), { code: 0, out: `${created.id} is removed.\n` });
  t.match(await said(t, `budgets remove ${created.id}`), { code: 1, err: /There is no budget/ });
});

const ask = async (content: string): Promise<Response> =>
  fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/chat', stream: true, messages: [{ role: 'user', content }] }),
  });

t.test('usage, models, status, requests and logs', async (t) => {
  for (let each = 0; each < 2; each++) await (await ask('Hello')).text();
  const rows = await eventually(async () => {
    const found = await parsed(t, 'usage --group-by request');
    return found.length === 2 && found;
  }, 'usage of both');
  t.match(rows[0], { object: 'usage.request', model: 'sluice/chat', subscription: 'sub_default' });
  t.match((await said(t, 'usage --group-by request')).out, /\n +TOTAL +[\d. ]+\n$/);
  t.match((await said(t, 'usage --subscription default')).out, /^DAY +REQUESTS.*\n\d{4}-\d\d-\d\d +2 +0 /);
  t.match((await said(t, 'models')).out, /^MODEL +KIND +ENGINE +HEALTH .*\n.*simulator +ok /);
  t.match((await said(t, 'status')).out, /^gateway +http.*\nready +yes\nmodels +\d+\nengines +1 up\n/);
  t.match(await parsed(t, 'status'), { ready: true, engines: [{ id: 'simulator' }] });

  const stream = ask('/sim tokens=4000 rate=20/s\nGo on.').then((response) => response.text());
  const [found] = await eventually(async () => {
    const list = await parsed(t, 'requests --state streaming');
    return list.length === 1 && list;
  }, 'it streams');
  t.match(
    (await said(t, 'requests')).out,
    new RegExp(`^REQUEST .*\\n${found.id}  streaming  /chat/completions `),
  );
  t.strictSame(await said(t, `requests cancel ${found.id}`), {
    ...{ code: 0, out: `${found.id} is cancelled.\n`, err: '' },
  });
  t.match(await stream, /cancelled by an operator/);
  t.match(
    (await said(t, 'logs --limit 1')).out,
    new RegExp(`200 .* POST /chat/completions .*${found.id}\\n$`),
  );
  t.equal(JSON.parse((await said(t, 'logs --limit 1 --json')).out).id, found.id);
  t.match((await said(t, 'engines list')).out, /^ENGINE +STATE .*\nsimulator +ok /);
  t.match(await said(t, 'engines drain simulator http://a'), { code: 1, err: /has no replicas\n$/ });
  t.match(await said(t, 'webhooks list'), { code: 0, err: 'No deliveries.\n' });
});

t.test('a gateway that is not there, or refuses', async (t) => {
  const err = async (...words: string[]) => (await said(t, words.join(' '))).err;
  t.match(await err('requests', 'cancel', 'req_none'), /No request "req_none" runs now\n$/);
  const out = t.capture(process.stderr, 'write', () => true);
  const code = await run([
    'keys',
    'list',
    '--url',
    String(gateway.adminUrl),
    '--token',
    'wrong-token-0123456',
  ]);
  t.equal(code, 1);
  t.equal(await run(['keys', 'list', '--url', 'http://127.0.0.1:2', '--token', 'x']), 1);
  t.equal(await run(['keys', 'list', '--url', 'localhost', '--token', 'x']), 2);
  t.equal(await run(['status', '--url', gateway.url, '--token', 'x']), 1);
  const said4 = out().map(({ args }) => String(args[0]));
  out.restore();
  t.match(said4, [
    'sluice keys list: Invalid admin token\n',
    /^sluice keys list: http:\/\/127\.0\.0\.1:2 cannot be reached: .*ECONNREFUSED/,
    'sluice keys list: --url takes an address such as http://127.0.0.1:9787, not "localhost"\n',
    /is it the admin port of a gateway\?\n$|No route/,
  ]);
});

const [, url = '', , token = ''] = target;

t.test('a saved gateway', async (t) => {
  const home = t.testdir();
  const env = { XDG_CONFIG_HOME: home };
  t.match(await sluice(env, 'context', 'add', 'prod', '--url', `${url}/admin/v1/`, '--token', token), {
    code: 0,
  });
  t.equal(statSync(join(home, 'sluice', 'contexts.json')).mode & 0o777, 0o600);
  const listed = await sluice(env, 'context', 'list');
  t.strictSame(listed, { code: 0, err: '', out: `   CONTEXT  GATEWAY\n*  prod     ${url}\n` });
  t.match(await sluice(env, 'subscriptions', 'list', '--json'), { code: 0, out: /sub_default/ });
});

t.test('saved gateways, variables and colours', { skip: onlyLong }, async (t) => {
  const home = t.testdir();
  const env = { XDG_CONFIG_HOME: home };
  await sluice(env, 'context', 'add', 'prod', '--url', `${url}/admin/v1/`, '--token', token);
  t.match(await sluice({ ...env, SLUICE_DATA: join(home, 'none') }, 'subscriptions', 'list'), {
    code: 1,
    err: /There is no store in/,
  });
  await sluice(env, 'context', 'use', 'local');
  t.match(
    await sluice(
      { ...env, SLUICE_ADMIN_URL: url, SLUICE_ADMIN_TOKEN: token, FORCE_COLOR: '1' },
      'subscriptions',
      'list',
    ),
    {
      code: 0,
      out: '\u001b[32mactive\u001b[39m',
    },
  );
  const plain = { ...env, NO_COLOR: '1', FORCE_COLOR: '1' };
  t.notMatch((await sluice(plain, 'subscriptions', 'list', '--context', 'prod')).out, '\u001b');
  t.match(await sluice(env, 'context', 'remove', 'prod'), { code: 0, out: 'prod is forgotten.\n' });
  t.match(await sluice(env, 'context', 'use', 'prod'), { code: 1, err: /There is no context "prod"/ });
});
