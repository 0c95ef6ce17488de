/** Tests the log of ended requests: bounded, in order, and without what it was not given. */
import t from 'tap';
import type { HttpExchange } from '../../src/http/http-exchange.ts';
import { RecentRequests } from '../../src/http/recent-requests.ts';

const written = (status: number, ago = 0) => ({ status, begun: performance.now() - ago, headAt: 0 });

const exchange = (id: string, more: object = {}): HttpExchange =>
  ({
    id,
    method: 'GET',
    route: undefined,
    served: undefined,
    caller: undefined,
    received: 0,
    ...more,
  }) as HttpExchange;

t.test('the last ones are kept, oldest first', async (t) => {
  const recent = new RecentRequests(3);
  t.strictSame(recent.after(0), { ended: [], count: 0 });
  for (let each = 1; each <= 5; each++) recent.add(exchange(`req_${each}`), written(200), undefined);
  const ids = (count: number) => recent.after(count).ended.map(({ id }) => id);
  t.equal(recent.after(0).count, 5);
  t.strictSame(ids(0), ['req_3', 'req_4', 'req_5']);
  t.strictSame(ids(4), ['req_5']);
  t.strictSame([ids(5), ids(99)], [[], []]);
});

t.test('an entry has what is known of its request', async (t) => {
  const recent = new RecentRequests(2);
  const begun = performance.now() - 50;
  const served = {
    model: 'a/b',
    lease: { waited: 12.4 },
    queuedMs: 1,
    ...{ replica: 'pool/1', attempts: 2, continuations: 1, holder: { account: { firstTokenAt: begun + 4 } } },
    ...{ admittedAt: begun + 1, calledAt: begun + 2, answeredAt: begun + 3, billedAt: begun + 6 },
    usage: { model: 'a/c', cost: '0.5', quantities: { prompt_tokens: 3, completion_tokens: 7 } },
  };
  const caller = { subscription: 'sub_1', key: 'key_1' };
  recent.add(
    exchange('req_1', { method: 'POST', route: { path: '/x' }, served, caller, received: begun + 0.5 }),
    { status: 200, begun, headAt: begun + 5 },
    'cancelled',
  );
  recent.add(exchange('req_2'), written(0), undefined);
  const [full, bare] = recent.after(0).ended;
  const last = full?.timeline.last_byte ?? 0;
  t.ok(last >= 50 && Math.abs(last - (full?.total_ms ?? 0)) <= 1);
  t.strictSame(
    { ...full, time: 0, total_ms: 0 },
    {
      ...{ id: 'req_1', time: 0, method: 'POST', route: '/x', status: 200, cut: 'cancelled', model: 'a/c' },
      ...{ subscription: 'sub_1', key: 'key_1', replica: 'pool/1', attempts: 2, continuations: 1 },
      ...{ queue_ms: 13, first_token_ms: 4, total_ms: 0 },
      timeline: {
        ...{ received: 0, parsed: 0.5, admitted: 1, engine_called: 2, engine_answered: 3 },
        ...{ first_byte: 5, first_token: 4, billed: 6, last_byte: last },
      },
      ...{ prompt_tokens: 3, completion_tokens: 7, cost: '0.5' },
    },
  );
  t.strictSame(
    { ...bare, time: 0, total_ms: 0, timeline: { ...bare?.timeline, last_byte: 0 } },
    {
      ...{ id: 'req_2', time: 0, method: 'GET', route: null, status: 0, cut: null, model: null },
      ...{ subscription: null, key: null, replica: null, attempts: 0, continuations: 0 },
      ...{ queue_ms: 0, first_token_ms: null, total_ms: 0 },
      timeline: {
        ...{ received: 0, parsed: null, admitted: null, engine_called: null, engine_answered: null },
        ...{ first_byte: null, first_token: null, billed: null, last_byte: 0 },
      },
      ...{ prompt_tokens: 0, completion_tokens: 0, cost: null },
    },
  );
});
