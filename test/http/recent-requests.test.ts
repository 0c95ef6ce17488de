/** Tests the log of ended requests: bounded, in order, and without what it was not given. */
import t from 'tap';
import type { HttpExchange } from '../../src/http/http-exchange.ts';
import { RecentRequests } from '../../src/http/recent-requests.ts';

const exchange = (id: string, more: object = {}): HttpExchange =>
  ({ id, method: 'GET', route: undefined, served: undefined, caller: undefined, ...more }) as HttpExchange;

t.test('the last ones are kept, oldest first', async (t) => {
  const recent = new RecentRequests(3);
  t.strictSame(recent.after(0), { ended: [], count: 0 });
  for (let each = 1; each <= 5; each++)
    recent.add(exchange(`req_${each}`), 200, performance.now(), undefined);
  const ids = (count: number) => recent.after(count).ended.map(({ id }) => id);
  t.equal(recent.after(0).count, 5);
  t.strictSame(ids(0), ['req_3', 'req_4', 'req_5']);
  t.strictSame(ids(4), ['req_5']);
  t.strictSame([ids(5), ids(99)], [[], []]);
});

t.test('an entry has what is known of its request', async (t) => {
  const recent = new RecentRequests(2);
  const served = {
    model: 'a/b',
    lease: { waited: 12.4 },
    queuedMs: 1,
    usage: { model: 'a/c', cost: '0.5', quantities: { prompt_tokens: 3, completion_tokens: 7 } },
  };
  const caller = { subscription: 'sub_1', key: 'key_1' };
  recent.add(
    exchange('req_1', { method: 'POST', route: { path: '/x' }, served, caller }),
    200,
    performance.now() - 50,
    'cancelled',
  );
  recent.add(exchange('req_2'), 0, performance.now(), undefined);
  const [full, bare] = recent.after(0).ended;
  t.match(full, { time: Number, total_ms: Number });
  t.strictSame(
    { ...full, time: 0, total_ms: 0 },
    {
      ...{ id: 'req_1', time: 0, method: 'POST', route: '/x', status: 200, cut: 'cancelled', model: 'a/c' },
      ...{ subscription: 'sub_1', key: 'key_1', queue_ms: 13, total_ms: 0 },
      ...{ prompt_tokens: 3, completion_tokens: 7, cost: '0.5' },
    },
  );
  t.strictSame(
    { ...bare, time: 0, total_ms: 0 },
    {
      ...{ id: 'req_2', time: 0, method: 'GET', route: null, status: 0, cut: null, model: null },
      ...{ subscription: null, key: null, queue_ms: 0, total_ms: 0 },
      ...{ prompt_tokens: 0, completion_tokens: 0, cost: null },
    },
  );
});
