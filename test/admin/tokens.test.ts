/** Tests tokens of the admin API: the first one, tokens of one's own, and the end of the audit log. */
import { join } from 'node:path';
import t from 'tap';
import { openState } from '../../src/adapters/state/open.ts';
import { auditPage, createAudit } from '../../src/admin/audit.ts';
import { createAuthenticate, createTokenManagement, ensureFirstToken } from '../../src/admin/tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { startGateway } from '../../src/main.ts';
import type { State } from '../../src/ports/state.ts';
import { welcome } from '../../src/welcome.ts';
import { silent } from '../engines/collect.ts';

const storeOf = (folder: string) => openState({ dataDir: join(folder, 'data'), redis: undefined });

t.test('the first start makes a token, and shows it once', async (t) => {
  const dataDir = join(t.testdir(), 'data');
  const start = (env: Record<string, string> = {}) =>
    startGateway(
      {
        ...loadConfig({
          PORT: '0',
          SLUICE_DATA: dataDir,
          SLUICE_EDGE: 'node',
          SLUICE_ADMIN_PORT: '0',
          ...env,
        }),
        env: {},
      },
      silent,
    );
  const off = await start({ SLUICE_ADMIN_PORT: 'off' });
  t.equal(off.adminToken, undefined, 'nobody could use it');
  await off.stop();
  const first = await start();
  t.match(first.adminToken, /^sluice-admin-[\w-]{43}$/);
  const statusWith = async (token: string) =>
    (await fetch(`${first.adminUrl}/admin/v1/status`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  t.equal(await statusWith(String(first.adminToken)), 200);
  t.equal(await statusWith('sluice-admin-'), 401);
  const text = welcome({
    ...{ url: 'u', secret: 's', keyGiven: false, models: 1, chatModel: undefined },
    ...{ adminUrl: 'http://a', adminToken: first.adminToken, config: loadConfig({}) },
  });
  t.match(text, `  admin API  http://a/admin/v1\n  token      ${first.adminToken}\n`);
  await first.stop();
  const second = await start();
  t.equal(second.adminToken, undefined, 'shown once');
  await second.stop();
});

t.test('tokens by name', async (t) => {
  const state = await storeOf(t.testdir());
  t.teardown(() => state.close());
  const tokens = createTokenManagement(state);
  const authenticate = createAuthenticate(state, undefined);
  const { token, record } = await tokens.create('deploy');
  t.match(record, { name: 'deploy', created: Number, display: `sluice-admin-…${token.slice(-4)}` });
  t.equal(await authenticate(`Bearer ${token}`), 'deploy');
  t.equal(await authenticate(`bearer  ${token} `), 'deploy', 'the scheme is in any case');
  await t.rejects(authenticate(`Bearer ${token}x`), { message: 'Invalid admin token' });
  await t.rejects(authenticate(`Bearer ${'x'.repeat(600)}`), { message: /^Send the admin token/ });
  await t.rejects(tokens.create('deploy'), { message: 'There is a token "deploy" already' });
  await t.rejects(tokens.create('cli'), { message: /already/ }, 'that is the command line');
  await t.rejects(tokens.create('two words'), { message: /^name must be 1 to 64/ });
  t.equal(await ensureFirstToken(state), undefined, 'there is one');
  t.strictSame(await tokens.list(), [record]);
  t.strictSame(await tokens.revoke('deploy'), record);
  await t.rejects(authenticate(`Bearer ${token}`), { message: 'Invalid admin token' });
  await t.rejects(tokens.revoke('deploy'), { message: 'There is no token "deploy"' });
});

t.test('gateways that start together on an empty store: one makes the first token', async (t) => {
  const state = await storeOf(t.testdir());
  t.teardown(() => state.close());
  t.match(await ensureFirstToken(state), /^sluice-admin-/);
  let looks = 0;
  const late: State = {
    ...state,
    create: (...args) => state.create(...args),
    list: async (...args) => (looks++ === 0 ? [] : state.list(...args)),
  };
  t.equal(await ensureFirstToken(late), undefined, 'another was first after it had looked');
  t.equal(looks, 2);
});

t.test('the audit log keeps 400 days, and one record per request', async (t) => {
  const state = await storeOf(t.testdir());
  t.teardown(() => state.close());
  const old = Date.now() - 401 * 86_400_000;
  for (let each = 0; each < 12; each++)
    await state.create('audit', {
      ...{ id: `old_${each}`, owner: '', value: { time: old }, index: { group: 'all', due: old } },
    });
  const audit = createAudit(state, 'cli', 'adm_1');
  await audit.note({ action: 'engine.drain', target: 'vllm', after: { replica: 'http://a' } });
  await audit.note({ action: 'engine.drain', target: 'vllm', after: { replica: 'http://a' } });
  const found = await auditPage(state, { limit: 100, order: 'asc' });
  t.strictSame(
    found.map(({ id, value: { time: _, ...value } }) => ({ id, ...value })),
    [
      {
        ...{ id: 'audit_adm_1', who: 'cli', action: 'engine.drain', target: 'vllm', subscription: null },
        ...{ before: null, after: { replica: 'http://a' } },
      },
    ],
  );
});
