/** Tests that budgets are never exceeded by concurrent calls, and are settled with what each call cost. */
import t from 'tap';
import { budgetsStatus } from '../../src/budgets/status.ts';
import { dollars, nanodollars } from '../../src/helpers/decimal.ts';
import { eventually } from '../eventually.ts';
import { startBudgetGateway } from './client.ts';

const { gateway, limited, known, chat, newKey, budgets } = await startBudgetGateway();
t.teardown(() => gateway.stop());

/** Enough for some calls, not for all. */
const amount = '0.001';
const key = await limited({ amount, period: 'day' });
const cancelling = await limited({ amount: '1', period: 'month' });
const [one, other] = [await newKey({ tags: ['team', 'night'] }), await newKey({ tags: ['team'] })];
const { id: ofTag } = await budgets.create({ tag: 'team', amount: '0.0005', period: 'total' });
await known();

interface Row {
  readonly key: string;
  readonly requests: number;
  readonly cost: string;
}

/** What the ledger says of a key, once it has so many requests. */
const billed = (id: string, requests: number): Promise<Row> =>
  eventually(async () => {
    const response = await fetch(`${gateway.url}/usage?group_by=key`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    const { data } = (await response.json()) as { data: Row[] };
    return data.find((row) => row.key === id && row.requests >= requests);
  }, `${requests} requests are in the ledger`);

t.test('concurrent calls', async (t) => {
  const replies = await Promise.all(Array.from({ length: 40 }, () => chat(key.secret)));
  const done = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 429);
  t.equal(done.length + refused.length, 40);
  t.ok(done.length > 0, 'some fit');
  t.ok(refused.length > 0, 'some do not');
  const { retryAfter, shouldRetry, body } = refused[0] ?? {};
  t.equal(shouldRetry, null);
  const untilMidnight = Math.ceil((Math.ceil(Date.now() / 86_400_000) * 86_400_000 - Date.now()) / 1000);
  t.ok(Math.abs(Number(retryAfter) - untilMidnight) < 60, `${retryAfter} is about ${untilMidnight}`);
  t.match(body, {
    error: {
      message:
        /^This request could cost [0-9.]+ USD, and the budget bud_\w+ of 0.001 USD a day has [0-9.]+ USD left; it resets at \d{4}-/,
      metadata: {
        budget: { id: key.budget, period: 'day', limit: amount, resets_at: Number },
      },
    },
  });

  // One after the other until nothing fits any more: what was reserved and not used was given back.
  let calls = done.length;
  let last = await chat(key.secret);
  for (; last.status === 200; last = await chat(key.secret)) calls++;
  t.ok(calls > done.length);
  const { requests, cost } = await billed(key.id, calls);
  t.equal(requests, calls, 'what was refused is not billed');
  const left = nanodollars(amount) - nanodollars(cost);
  t.ok(left >= 0, `${cost} of ${amount}`);
  t.match(last.body, { error: { metadata: { budget: { remaining: dollars(left) } } } });
  const [status] = await budgetsStatus(gateway.allowances, [(await budgets.get(key.budget)).value]);
  t.match(status, { used: dollars(nanodollars(cost)), reserved: '0', left: dollars(left) });
});

t.test('a client that leaves pays for what it was sent', async (t) => {
  const stopping = new AbortController();
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    signal: stopping.signal,
    headers: { authorization: `Bearer ${cancelling.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sluice/chat',
      stream: true,
      max_tokens: 1000,
      messages: [{ role: 'user', content: '/sim tokens=1000 rate=50/s\nHello' }],
    }),
  });
  for await (const _ of response.body ?? []) break;
  stopping.abort();
  const cost = nanodollars((await billed(cancelling.id, 1)).cost);
  t.ok(cost > 0);
  t.ok(cost < nanodollars('0.0006'), 'not for all that was asked for');
  const [status] = await budgetsStatus(gateway.allowances, [(await budgets.get(cancelling.budget)).value]);
  t.match(status, { used: dollars(cost), reserved: '0' });
});

t.test('keys with a tag share its budget', async (t) => {
  let refused = 0;
  for (let call = 0; call < 60 && refused < 2; call++) {
    const { status, body } = await chat((call % 2 === 0 ? one : other).secret);
    if (status === 429) {
      refused++;
      t.match(body, { error: { metadata: { budget: { id: ofTag } } } });
    }
  }
  t.equal(refused, 2, 'both are refused');
});
