/** Tests the admin API: its token, its errors, subscriptions, keys, limits, usage, pages, entity tags and the audit log. */
import t from 'tap';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf, adminToken, refusal } from './client.ts';

const gateway = await startGateway({ env: adminEnv });
t.teardown(() => gateway.stop());
const call = adminOf(gateway);
const url = String(gateway.adminUrl);

t.test('only with the token', async (t) => {
  for (const authorization of [
    '',
    'Bearer wrong-token-of-some-length',
    `Basic ${adminToken}`,
    `Bearer ${gateway.key}`,
  ]) {
    const { status, body } = await call('GET', '/keys', undefined, { authorization });
    t.equal(status, 401, authorization);
    const message = /^Bearer/.test(authorization)
      ? 'Invalid admin token'
      : 'Send the admin token: Authorization: Bearer TOKEN';
    t.strictSame(body, refusal(401, 'auth_error', 'authentication', message));
  }
  for (const path of ['/metrics', '/livez', '/readyz']) t.equal((await fetch(url + path)).status, 200, path);
  const document = await fetch(`${url}/admin/v1/openapi.json`);
  t.equal(document.status, 200, 'the document is public');
});

t.test('what is no route, or no valid request', async (t) => {
  t.strictSame(await call('GET', '/nothing'), {
    status: 404,
    etag: null,
    body: refusal(404, 'not_found_error', 'not_found', 'No route for GET /admin/v1/nothing'),
  });
  const { status, body } = await call('PUT', '/keys');
  t.equal(status, 405);
  t.equal(body.error.message, 'PUT is not allowed on /admin/v1/keys; it takes GET, POST');
  const invalid = (message: string, param: string | null) =>
    refusal(400, 'validation_error', 'invalid_request', message, param);
  for (const [sent, message, param] of [
    ['{', 'The request body is not valid JSON', null],
    [{}, 'name is required', 'name'],
    [{ name: 5 }, 'name must be a string', 'name'],
    [{ name: 'a', colour: 'red' }, 'colour is not a known field', 'colour'],
    [{ name: ' a' }, 'name must be 1 to 100 printable characters without spaces at the ends', 'name'],
  ] as const)
    t.strictSame((await call('POST', '/subscriptions', sent)).body, invalid(message, param));
  t.strictSame(
    (await call('GET', '/keys?limit=0')).body,
    invalid('limit must be an integer from 1 to 100', 'limit'),
  );
  const large = await call('POST', '/subscriptions', { name: 'x'.repeat(70_000) });
  t.strictSame(large.body, {
    ...refusal(
      413,
      'invalid_request_error',
      'payload_too_large',
      'The request body must have at most 65536 bytes',
    ),
  });
  t.equal((await call('GET', '/keys/%E0')).status, 400);
});

t.test('the document has every route', async (t) => {
  const { body } = await call('GET', '/openapi.json');
  t.match(body, {
    openapi: '3.1.0',
    info: { title: 'Sluice admin API' },
    servers: [{ url: '/admin/v1' }],
    security: [{ bearer: [] }],
  });
  t.match(Object.keys(body.paths), [/^\/status$/]);
  for (const [path, methods] of Object.entries(body.paths as Record<string, Record<string, unknown>>))
    for (const method of Object.keys(methods)) {
      // Its response does not end: test/admin/snapshots.test.ts.
      if (path === '/live') continue;
      const { status, body } = await call(method.toUpperCase(), path.replace(/\{\w+\}/g, 'none'), {
        unknown_field: 1,
      }).catch(() => call(method.toUpperCase(), path.replace(/\{\w+\}/g, 'none')));
      t.ok([200, 201, 400, 404].includes(status), `${method} ${path}: ${status} ${JSON.stringify(body)}`);
    }
});

t.test('subscriptions', async (t) => {
  const created = await call('POST', '/subscriptions', { name: 'Acme & Söhne' });
  const { id, created: at } = created.body;
  const record = { object: 'subscription', id, name: 'Acme & Söhne', status: 'active', created: at };
  t.match({ id, at }, { id: /^sub_[0-9a-f]{24}$/, at: Number });
  t.strictSame([created.status, created.body], [201, record]);
  t.strictSame(await call('GET', `/subscriptions/${id}`), { ...created, status: 200 });
  t.strictSame((await call('GET', `/subscriptions/${encodeURIComponent('Acme & Söhne')}`)).body, record);

  const suspended = await call('POST', `/subscriptions/${id}/suspend`, undefined, {
    'if-match': String(created.etag),
  });
  t.strictSame([suspended.status, suspended.body], [200, { ...record, status: 'suspended' }]);
  t.not(suspended.etag, created.etag);
  const stale = await call('POST', `/subscriptions/${id}/close`, undefined, {
    'if-match': String(created.etag),
  });
  t.strictSame(
    [stale.status, stale.body],
    [
      412,
      refusal(
        412,
        'invalid_request_error',
        'invalid_request',
        'The record has changed since its ETag was read: read it again',
      ),
    ],
  );
  t.equal((await call('GET', `/subscriptions/${id}`)).body.status, 'suspended', 'nothing has changed');
  t.equal((await call('POST', `/subscriptions/${id}/resume`, undefined, { 'if-match': '*' })).status, 200);
  t.equal((await call('POST', `/subscriptions/${id}/close`)).body.status, 'closed');
  t.equal((await call('POST', `/subscriptions/${id}/resume`)).status, 409, 'closed is final');
  t.equal((await call('GET', '/subscriptions/sub_none')).status, 404);

  for (const name of ['a', 'b', 'c']) await call('POST', '/subscriptions', { name });
  const names = ({ body }: { body: { data: { name: string }[] } }) => body.data.map(({ name }) => name);
  const first = await call('GET', '/subscriptions?limit=2');
  t.strictSame(names(first), ['c', 'b'], 'the latest first');
  t.match(first.body, { object: 'list', has_more: true, last_id: first.body.data[1].id });
  const second = await call('GET', `/subscriptions?limit=2&after=${first.body.last_id}`);
  t.strictSame(names(second), ['a', 'Acme & Söhne']);
  t.strictSame(
    (await call('GET', `/subscriptions?limit=2&before=${second.body.first_id}`)).body.data,
    first.body.data,
  );
  t.strictSame(names(await call('GET', '/subscriptions?order=asc&limit=1')), ['default']);
  t.strictSame((await call('GET', '/subscriptions?after=sub_none')).body, {
    ...{ object: 'list', data: [], first_id: null, last_id: null, has_more: false },
  });
});

t.test('keys', async (t) => {
  const { body: subscription } = await call('POST', '/subscriptions', { name: 'keys' });
  const created = await call('POST', '/keys', {
    ...{ subscription: 'keys', name: 'laptop', models: ['sluice/*'], tags: ['team:a'] },
    metadata: { owner: 'ops' },
  });
  const { id, secret, created: at, display } = created.body;
  const key = {
    ...{ object: 'key', id, name: 'laptop', subscription: subscription.id, status: 'active', created: at },
    ...{ display, models: ['sluice/*'], tags: ['team:a'], metadata: { owner: 'ops' } },
    ...{ last_used: null, former_secrets: [] },
  };
  t.strictSame([created.status, created.body], [201, { ...key, secret }]);
  t.match({ id, secret }, { id: /^key_[0-9a-f]{24}$/, secret: /^sk-sluice-\w{43}$/ });
  const read = await call('GET', `/keys/${id}`);
  t.strictSame(read.body, key);
  t.equal(read.etag, created.etag);

  const updated = await call(
    'PATCH',
    `/keys/${id}`,
    { models: null, name: 'desk' },
    { 'if-match': String(read.etag) },
  );
  const { models: _, ...without } = key;
  t.strictSame([updated.status, updated.body], [200, { ...without, name: 'desk' }]);
  t.equal((await call('PATCH', `/keys/${id}`, { name: 'x' }, { 'if-match': String(read.etag) })).status, 412);
  t.strictSame(
    (await call('PATCH', `/keys/${id}`, { networks: ['here'] })).body.error.param,
    'networks',
    'the field is named',
  );
  const limits = async (changes: object | null) =>
    (await call('PATCH', `/keys/${id}`, { limits: changes })).body.limits;
  t.strictSame(await limits({ concurrency: 2, requests_per_minute: 9 }), {
    concurrency: 2,
    requests_per_minute: 9,
  });
  t.strictSame(await limits({ concurrency: null }), { requests_per_minute: 9 }, 'null removes one');
  t.strictSame(
    (await call('PATCH', `/keys/${id}`, { limits: { concurrency: 0 } })).body.error.param,
    'limits.concurrency',
  );
  t.equal(await limits(null), undefined, 'null removes all');
  const rotated = await call('POST', `/keys/${id}/rotate`, { overlap: 60 });
  t.equal(rotated.status, 201);
  t.not(rotated.body.secret, secret);
  t.match(rotated.body, { id, name: 'desk', former_secrets: [{ display, expires: Number }] });
  t.equal((await call('POST', `/keys/${id}/rotate`, { overlap: -1 })).body.error.param, 'overlap');
  const status = async (key: string) =>
    (await fetch(`${gateway.url}/usage`, { headers: { authorization: `Bearer ${key}` } })).status;
  t.strictSame([await status(secret), await status(rotated.body.secret)], [200, 200], 'both work');
  t.equal((await call('GET', '/keys?subscription=keys')).body.data.length, 1, 'it is one key');
  t.equal((await call('POST', `/keys/${id}/suspend`)).body.status, 'suspended');
  t.equal((await call('POST', `/keys/${id}/resume`)).body.status, 'active');
  t.equal((await call('POST', `/keys/${id}/revoke`)).body.status, 'closed');
  t.equal((await call('POST', `/keys/${id}/resume`)).status, 409);
  t.equal((await call('GET', '/keys/key_none')).status, 404);
});

t.test('limits', async (t) => {
  const { body: subscription } = await call('POST', '/subscriptions', { name: 'limited' });
  const { id } = subscription;
  const none = { id, object: 'limits', subscription: id, all: {}, models: {} };
  const empty = await call('GET', '/limits/limited');
  t.strictSame(empty.body, none);
  const set = await call('PATCH', '/limits/limited', { concurrency: 3 }, { 'if-match': String(empty.etag) });
  t.strictSame([set.status, set.body], [200, { ...none, all: { concurrency: 3 } }]);
  const model = 'sluice/chat';
  t.strictSame((await call('PATCH', `/limits/${id}`, { model, requests_per_minute: 9 })).body, {
    ...none,
    all: { concurrency: 3 },
    models: { [model]: { requests_per_minute: 9 } },
  });
  t.equal((await call('DELETE', `/limits/${id}`, undefined, { 'if-match': String(set.etag) })).status, 412);
  t.equal((await call('PATCH', `/limits/${id}`, { concurrency: 0 })).body.error.param, 'concurrency');
  t.equal((await call('PATCH', `/limits/${id}`, {})).status, 400);
  t.strictSame(
    (await call('GET', '/limits')).body.data.map(({ id }: { id: string }) => id),
    [id],
  );
  t.strictSame(
    (await call('PATCH', `/limits/${id}`, { model: 'a/b', concurrency: 1, tokens_per_minute: 50 })).body
      .models,
    { [model]: { requests_per_minute: 9 }, 'a/b': { concurrency: 1, tokens_per_minute: 50 } },
  );
  t.strictSame(
    (await call('PATCH', `/limits/${id}`, { model: 'a/b', concurrency: null })).body.models['a/b'],
    { tokens_per_minute: 50 },
    'null removes one',
  );
  t.strictSame(
    (await call('PATCH', `/limits/${id}`, { model: 'a/b', tokens_per_minute: null })).body.models,
    { [model]: { requests_per_minute: 9 } },
    'a model without numbers is not listed',
  );
  t.strictSame((await call('DELETE', `/limits/${id}?model=${model}`)).body, {
    ...none,
    all: { concurrency: 3 },
  });
  t.strictSame((await call('DELETE', `/limits/${id}`)).body, none);
  t.equal((await call('DELETE', `/limits/${id}`)).status, 404);
});

t.test('budgets', async (t) => {
  const { body: owner } = await call('POST', '/subscriptions', { name: 'spender' });
  const created = await call('POST', '/budgets', { subscription: 'spender', amount: '10', period: 'total' });
  const { id, created: at } = created.body;
  const budget = {
    ...{ object: 'budget', id, subscription: owner.id, amount: '10', period: 'total', time_zone: 'UTC' },
    ...{ created: at, used: '0', reserved: '0', left: '10', resets: null },
  };
  t.match(id, /^bud_/);
  t.strictSame([created.status, created.body], [201, budget]);
  t.strictSame((await call('GET', `/budgets/${id}`)).body, budget);
  const changed = await call(
    'PATCH',
    `/budgets/${id}`,
    { amount: '2.5' },
    { 'if-match': String(created.etag) },
  );
  t.strictSame([changed.status, changed.body], [200, { ...budget, amount: '2.5', left: '2.5' }]);
  t.equal(
    (await call('DELETE', `/budgets/${id}`, undefined, { 'if-match': String(created.etag) })).status,
    412,
  );
  t.equal((await call('POST', '/budgets', { amount: '1', period: 'year' })).body.error.param, 'period');
  t.strictSame((await call('GET', '/budgets')).body.data, [changed.body]);
  t.strictSame((await call('DELETE', `/budgets/${id}`)).body, { id, object: 'budget', deleted: true });
  t.equal((await call('GET', `/budgets/${id}`)).status, 404);
  const { data } = (await call('GET', `/audit?subscription=${owner.id}&limit=3`)).body;
  t.match(data, [
    { action: 'budget.remove', before: { amount: '2.5' }, after: null },
    { action: 'budget.update', before: { amount: '10' }, after: { amount: '2.5' } },
    { action: 'budget.create', before: null, after: { amount: '10' } },
  ]);
});

t.test('usage of all subscriptions', async (t) => {
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sluice/chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const { usage } = (await response.json()) as { usage: { completion_tokens: number } };
  const rows = async (query: string) => (await call('GET', `/usage?${query}`)).body.data;
  const found = await eventually(async () => {
    const totals = await rows('group_by=subscription,model');
    return totals.length > 0 && totals;
  }, 'its event is in the ledger');
  t.match(found, [
    {
      ...{ object: 'usage.total', subscription: 'sub_default', model: 'sluice/chat', requests: 1, failed: 0 },
      completion_tokens: usage.completion_tokens,
    },
  ]);
  t.match(await rows('group_by=request&subscription=default'), [
    { object: 'usage.request', subscription: 'sub_default', outcome: 'completed', status: 200 },
  ]);
  t.strictSame(await rows('subscription=sub_none'), []);
  t.equal((await call('GET', '/usage?group_by=colour')).body.error.param, 'group_by');
});

t.test('the audit log says who changed what', async (t) => {
  const { body: subscription } = await call('POST', '/subscriptions', { name: 'audited' });
  const { id } = subscription;
  const { body: key } = await call('POST', '/keys', { subscription: id });
  await call('PATCH', `/keys/${key.id}`, { name: 'new' });
  await call('PATCH', `/limits/${id}`, { concurrency: 1 });
  await call('DELETE', `/limits/${id}`);
  await call('POST', `/subscriptions/${id}/close`, undefined, { 'if-match': '"stale"' });
  await call('POST', `/subscriptions/${id}/close`);
  const { body } = await call('GET', `/audit?subscription=${id}&order=asc`);
  const { secret, object: _, last_used: __, former_secrets: ___, ...record } = key;
  const { object: ____, ...owner } = subscription;
  const none = { subscription: id, all: {}, models: {} };
  const entries = [
    ['subscription.create', id, null, owner],
    ['key.create', key.id, null, record],
    ['key.update', key.id, record, { ...record, name: 'new' }],
    ['limits.set', id, none, { ...none, all: { concurrency: 1 } }],
    ['limits.clear', id, { ...none, all: { concurrency: 1 } }, none],
    ['subscription.close', id, owner, { ...owner, status: 'closed' }],
  ] as const;
  t.strictSame(
    body.data.map(({ id: _, time: __, ...entry }: { id: string; time: number }) => entry),
    entries.map(([action, target, before, after]) => ({
      ...{
        object: 'audit.entry',
        who: 'SLUICE_ADMIN_TOKEN',
        action,
        target,
        subscription: id,
        before,
        after,
      },
    })),
  );
  t.notMatch(JSON.stringify((await call('GET', '/audit?limit=100')).body), secret);
});
