/** Tests usage in the admin API: by hour and month, filtered, event by event, and as CSV. */
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf, adminToken } from './client.ts';

const gateway = await startGateway({ env: adminEnv });
t.teardown(() => gateway.stop());
const call = adminOf(gateway);
const noon = Date.UTC(2026, 9, 15, 12);
const period = 'from=2026-10-01&to=2026-11-01';

const event = (index: number, more: Partial<UsageEvent> = {}): UsageEvent => ({
  ...usageEvent({ time: noon + index * 1_800_000, subscription: 'sub_a', key: 'key_1', model: 'm/1' }),
  ...more,
});
const events = [
  event(0),
  event(1, { model: '=m"2', key: 'key_2' }),
  event(2, { route: '/messages', outcome: 'failed', status: 502, cost: '0' }),
  event(3, { subscription: 'sub_b' }),
];
await (gateway.ports.ledger as Ledger).insert(events);

const csv = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gateway.adminUrl}/admin/v1${path}`, {
    headers: { authorization: `Bearer ${adminToken}`, ...headers },
  });
  return { response, lines: (await response.text()).split('\r\n') };
};

t.test('totals by hour and month, filtered', async (t) => {
  const groups = async (query: string, name: string) =>
    (await call('GET', `/usage?${period}&${query}`)).body.data.map((row: Record<string, unknown>) => [
      row[name],
      row.requests,
    ]);
  t.strictSame(await groups('group_by=hour', 'hour'), [
    ['2026-10-15T12:00Z', 2],
    ['2026-10-15T13:00Z', 2],
  ]);
  t.strictSame(await groups('group_by=month', 'month'), [['2026-10', 4]]);
  t.strictSame(await groups('group_by=day&key=key_1&subscription=sub_a', 'day'), [['2026-10-15', 2]]);
  t.strictSame(await groups('group_by=key&route=/messages', 'key'), [['key_1', 1]]);
  t.strictSame(await groups('group_by=route&model=none', 'route'), []);
  t.match((await call('GET', '/usage?from=2026-09-01&to=2026-11-01&group_by=hour')).body.error, {
    ...{ code: 400, param: 'group_by' },
  });
  t.equal((await call('GET', `/usage?key=${'x'.repeat(513)}`)).body.error.param, 'key');
  t.equal((await call('GET', '/usage?format=xml')).body.error.param, 'format');
});

t.test('events, the newest first, by page', async (t) => {
  const { body } = await call('GET', `/usage/events?${period}&limit=3`);
  t.match(body, {
    ...{ object: 'list', from: Date.UTC(2026, 9) / 1000, to: Date.UTC(2026, 10) / 1000, has_more: true },
    links: { next: /^\/admin\/v1\/usage\/events\?from=2026-10-01&to=2026-11-01&limit=3&after=/ },
  });
  t.strictSame(
    body.data,
    events
      .toReversed()
      .slice(0, 3)
      .map((each) => ({ object: 'usage.event', ...each })),
  );
  const rest = (await call('GET', body.links.next.replace('/admin/v1', ''))).body;
  t.strictSame([rest.data.map(({ id }: UsageEvent) => id), rest.links.next], [[events[0]?.id], null]);
  const only = async (query: string) =>
    (await call('GET', `/usage/events?${period}&${query}`)).body.data.map(({ id }: UsageEvent) =>
      events.findIndex((each) => each.id === id),
    );
  t.strictSame(await only('subscription=sub_a'), [2, 1, 0]);
  t.strictSame(await only('key=key_1&model=m/1'), [3, 2, 0]);
  t.strictSame(await only('key=key_1&model=m/1&limit=1'), [3]);
  t.strictSame(await only('route=/messages'), [2]);
  t.equal((await call('GET', '/usage/events?after=x')).body.error.param, 'after');
  t.equal((await call('GET', '/usage/events?from=never')).body.error.param, 'from');
  t.equal((await call('GET', '/usage/events?subscription=nobody')).status, 404);
});

t.test('as CSV, by the query or the header', async (t) => {
  const { response, lines } = await csv(`/usage/events?${period}&format=csv&limit=1`);
  t.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.match(response.headers.get('content-disposition'), /^attachment; filename="usage-[\d-]+\.csv"$/);
  t.equal(
    lines[0],
    'time,id,request_id,subscription,key,route,model,requested_model,engine,outcome,status,prompt_tokens,completion_tokens,cached_tokens,reasoning_tokens,inputs,megapixels,seconds,cost,generated_tokens,delivered_tokens,queued_ms,first_token_ms,total_ms',
  );
  t.equal(lines.length, 6, 'all rows, whatever the limit, and an end of the last line');
  t.ok(lines[3]?.includes(`,key_2,/chat/completions,"'=m""2",`), 'no formula, and quoted');
  const totals = await csv(`/usage?${period}&group_by=model`, { accept: 'text/csv, */*' });
  t.equal(totals.lines[0]?.slice(0, 36), 'model,requests,failed,prompt_tokens,');
  t.match(totals.lines[2], /^m\/1,3,1,/);
  const none = await csv('/usage?from=2020-01-01&to=2020-02-01&format=csv');
  t.strictSame([none.response.status, none.lines.length], [200, 2]);
  t.equal((await csv('/usage?format=csv&group_by=colour')).response.status, 400);
  t.equal((await csv('/usage?format=csv', { authorization: '' })).response.status, 401);
  t.equal(
    (await csv('/usage?format=json', { accept: 'text/csv' })).response.headers.get('content-type'),
    'application/json',
  );
});
