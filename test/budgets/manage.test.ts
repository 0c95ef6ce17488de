/** Tests making, listing, changing and removing budgets. */
import t from 'tap';
import type { NewBudget } from '../../schemas/budgets.ts';
import { createBudgetsManagement } from '../../src/budgets/manage.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { createModelState } from '../contracts/state-model.ts';

const setUp = async () => {
  const state = createModelState();
  const keys = createKeyManagement(state);
  const { id: subscription } = await keys.createSubscription('acme');
  const { key } = await keys.createKey({ subscription, tags: ['nightly'] });
  const budgets = createBudgetsManagement(state, () => 1_800_000_000_500);
  return { state, budgets, subscription, key: key.id };
};

t.test('made, listed, changed and removed', async (t) => {
  const { budgets, subscription, key } = await setUp();
  const made = await budgets.create({ subscription: 'acme', amount: '10.50', period: 'month' });
  t.match(made.id, /^bud_[0-9a-f]{24}$/);
  t.strictSame(made, {
    id: made.id,
    subscription,
    amount: '10.50',
    period: 'month',
    time_zone: 'UTC',
    created: 1_800_000_000,
  });
  const ofKey = await budgets.create({
    key,
    amount: '1',
    period: 'day',
    time_zone: 'Europe/Berlin',
    callback_url: 'https://example.com/hook',
  });
  t.strictSame(ofKey, {
    id: ofKey.id,
    subscription,
    key,
    amount: '1',
    period: 'day',
    time_zone: 'Europe/Berlin',
    callback_url: 'https://example.com/hook',
    created: 1_800_000_000,
  });
  const ofTag = await budgets.create({ tag: 'nightly', amount: '5', period: 'total' });
  t.notOk('subscription' in ofTag);
  const narrow = await budgets.create({ tag: 'nightly', subscription, amount: '5', period: 'week' });
  t.strictSame(await budgets.list(), [made, ofKey, ofTag, narrow]);

  const changed = await budgets.update(ofKey.id, { amount: '2', callback_url: null });
  const { callback_url: _, ...rest } = ofKey;
  t.strictSame(changed, { ...rest, amount: '2' });
  t.match(await budgets.get(ofKey.id), { version: 2, value: changed });
  await t.rejects(budgets.update(ofKey.id, { amount: '3' }, 1), {
    name: 'ApiError',
    message: /was changed meanwhile/,
  });
  t.strictSame(await budgets.update(ofKey.id, { amount: '3' }, 2), { ...changed, amount: '3' });

  await t.rejects(budgets.remove(made.id, 7), { name: 'ApiError', message: /was changed meanwhile/ });
  t.strictSame(await budgets.remove(made.id), made);
  await t.rejects(budgets.get(made.id), { message: `There is no budget "${made.id}"` });
  await t.rejects(budgets.remove(made.id), { name: 'ApiError', message: /^There is no budget/ });
  await t.rejects(budgets.update(made.id, { amount: '1' }), {
    name: 'ApiError',
    message: /^There is no budget/,
  });
});

t.test('bad settings are refused by name', async (t) => {
  const { budgets, subscription, key } = await setUp();
  const right: NewBudget = { subscription, amount: '1', period: 'day' };
  const cases: readonly [Partial<Record<keyof NewBudget, unknown>>, RegExp][] = [
    [{ amount: '0' }, /^amount must be more than 0/],
    [{ amount: '9000001' }, /^amount must be more than 0 and at most 9000000/],
    [{ amount: '1.0000000001' }, /^amount /],
    [{ amount: '-1' }, /^amount /],
    [{ amount: 5 }, /^amount /],
    [{ period: 'year' }, /^period /],
    [{ time_zone: 'Mars/Olympus' }, /^time_zone /],
    [{ callback_url: 'ftp://example.com' }, /^callback_url /],
    [{ key }, /^key stands alone/],
    [{ subscription: 'nobody' }, /There is no subscription "nobody"/],
    [{ subscription: undefined, key: 'key_none' }, /There is no key "key_none"/],
    [{ subscription: undefined }, /^A budget is for a subscription, a key or a tag/],
    [
      { subscription: undefined, tag: 'x', callback_url: 'https://a.example' },
      /^callback_url needs a subscription/,
    ],
    [{ colour: 'red' } as object, /A budget|colour/],
  ];
  for (const [change, message] of cases) {
    const wrong = Object.fromEntries(
      Object.entries({ ...right, ...change }).filter(([, value]) => value !== undefined),
    ) as unknown as NewBudget;
    await t.rejects(budgets.create(wrong), { message }, JSON.stringify(change));
  }
  t.strictSame(await budgets.list(), []);
});

t.test('there are at most eight for the same', async (t) => {
  const { budgets, subscription } = await setUp();
  for (let count = 0; count < 8; count++) await budgets.create({ subscription, amount: '1', period: 'day' });
  await t.rejects(budgets.create({ subscription, amount: '1', period: 'day' }), {
    message: /8 budgets for the same/,
  });
});
