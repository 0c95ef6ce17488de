/** The contract suite of Ledger adapters. `open` connects to the same ledger, empty at first. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Ledger, UsageFilter, UsageGroup, UsageTotal } from '../../src/ports/ledger.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { createModelLedger } from './ledger-model.ts';

const day = 86_400_000;
const noon = Date.UTC(2026, 10, 15, 12);
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
const all = { limit: 1000 };

export const ledgerContract = async (t: Test, open: () => Ledger, { histories = 20 } = {}): Promise<void> => {
  const ledger = open();
  t.teardown(() => ledger.close());
  await ledger.check();

  /** Each test works for a subscription of its own. */
  let owners = 0;
  const newOwner = () => `sub_${++owners}`;
  const eventsOf = (subscription: string, overrides: readonly Partial<UsageEvent>[]) =>
    overrides.map((each) => usageEvent({ subscription, ...each }));

  await t.test('more events than are encoded in one tick, from an iterator', async (t) => {
    const subscription = newOwner();
    for (const [round, count] of [99, 100, 101, 250].entries()) {
      const events = Array.from({ length: count }, (_, number) =>
        usageEvent({ subscription, time: noon + 1000 * round + number }),
      );
      await ledger.insert(events.values());
      const [from, to] = [noon + 1000 * round, noon + 1000 * (round + 1)];
      t.strictSame(await ledger.list({ subscription, from, to }, all), events, `${count} events`);
    }
    const [total] = await ledger.totals({ ...always, subscription }, ['subscription'], all);
    t.equal(total?.requests, 550);
  });

  await t.test('names may have any character', async (t) => {
    const subscription = newOwner();
    const names = [
      '\\',
      '\\N',
      'a\tb',
      'a\nb\r\n',
      'it\'s "so"',
      'ü🎵模型',
      '',
      ' ',
      '\\t',

      '\u2028',
    ];
    const events = names.map((model, index) =>
      usageEvent({ subscription, model, route: model, time: noon + index, id: `${subscription}${model}` }),
    );
    await ledger.insert(events);
    t.strictSame(await ledger.list({ ...always, subscription }, all), events);
    const totals = await ledger.totals({ ...always, subscription }, ['model'], all);
    t.strictSame(new Set(totals.map(({ group: [model] }) => model)), new Set(names));
    for (const [index, model] of names.entries())
      t.strictSame(await ledger.list({ ...always, subscription, model }, all), [events[index]], model);
  });

  await t.test('events are listed whole, oldest first, by page', async (t) => {
    const subscription = newOwner();
    const other = usageEvent({ subscription: newOwner(), time: noon });
    const [late, early, tieB, tieA] = eventsOf(subscription, [
      { time: noon + 500, first_token_ms: null },
      { time: noon - 500, outcome: 'failed', status: 502 },
      {
        time: noon,
        id: `${subscription}_b`,
        quantities: { ...quantities, megapixels: '1.048576', inputs: 2 },
      },
      { time: noon, id: `${subscription}_a`, price: { prompt: '0.1', other: '2' } },
    ]) as [UsageEvent, UsageEvent, UsageEvent, UsageEvent];
    const later = { ...late, id: `${late.id}_x`, added_in_a_later_version: { deep: [1, 'ü'] } };
    await ledger.insert([late, other, early, later]);
    await ledger.insert([tieB, tieA]);
    await ledger.insert([]);
    const list = (filter: Partial<UsageFilter>, page = all) =>
      ledger.list({ ...always, subscription, ...filter }, page);
    t.strictSame(await list({}), [early, tieA, tieB, late, later]);
    t.strictSame(await list({ from: noon, to: noon + 500 }), [tieA, tieB], 'from inclusive, to exclusive');
    t.strictSame(await list({ from: noon, to: noon }), []);
    t.strictSame(await list({ subscription: 'nobody' }), []);
    t.strictSame(await list({}, { limit: 2 }), [early, tieA]);
    const after = ({ time, id }: UsageEvent) => ({ after: { time, id }, limit: 2 });
    t.strictSame(await list({}, after(tieA)), [tieB, late]);
    t.strictSame(await list({}, after(late)), [later]);
    t.strictSame(await list({}, after(later)), []);
    const newest = (page: object = {}, filter: Partial<UsageFilter> = {}) =>
      ledger.list({ ...always, subscription, ...filter }, { ...all, order: 'desc', ...page });
    t.strictSame(await newest(), [later, late, tieB, tieA, early]);
    t.strictSame(await newest({ limit: 2 }), [later, late]);
    t.strictSame(await newest(after(late)), [tieB, tieA]);
    t.strictSame(await newest(after(early)), []);
    t.strictSame(await newest({}, { model: 'nothing' }), []);
    t.strictSame(await newest({}, { model: late.model, key: late.key, route: late.route, from: noon }), [
      later,
      late,
      tieB,
      tieA,
    ]);
    const everyone = await ledger.list({ from: noon, to: noon + 1 }, all);
    t.strictSame(
      everyone.filter(({ id }) => [tieA.id, other.id].includes(id)).length,
      2,
      'all subscriptions',
    );
  });

  await t.test('an event counts once, however often it is delivered', async (t) => {
    const subscription = newOwner();
    const events = eventsOf(subscription, [{ time: noon }, { time: noon + 1 }, { time: noon + 40 * day }]);
    const [first, second] = events as [UsageEvent, UsageEvent];
    const another = open();
    await ledger.insert([first, first, second]);
    await Promise.all([ledger.insert(events), another.insert(events), another.insert([second, first])]);
    await another.insert([...events].reverse());
    await another.close();
    t.strictSame(await ledger.list({ ...always, subscription }, all), events);
    const [total] = await ledger.totals({ ...always, subscription }, [], all);
    t.match(total, { group: [], requests: 3, prompt_tokens: 30, completion_tokens: 15, cost: '0.000006' });
    t.strictSame(
      (await ledger.totals({ ...always, subscription }, ['day'], all)).map((each) => [
        each.group,
        each.requests,
      ]),
      [
        [['2026-11-15'], 2],
        [['2026-12-25'], 1],
      ],
    );
    const missing = usageEvent({ subscription, time: noon });
    t.strictSame(
      [...(await ledger.find([...events, missing]))].sort((a, b) => (a.id < b.id ? -1 : 1)),
      events.map(({ id, cost }) => ({ id, cost })).sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    t.strictSame(await ledger.find([]), []);
  });

  await t.test('totals by every group, sorted, paged, without failures', async (t) => {
    const subscription = newOwner();
    await ledger.insert(
      eventsOf(subscription, [
        { time: noon, model: 'b', key: 'k2', cost: '1', quantities: { ...quantities, cached_tokens: 4 } },
        { time: noon + day, model: 'a', key: 'k1', cost: '0.5', route: '/messages' },
        { time: noon + day, model: 'b', key: 'k1', cost: '0.25', outcome: 'cancelled' },
        { time: noon + day, model: 'b', key: 'k1', cost: '0', outcome: 'failed' },
        {
          time: noon + 2 * day,
          model: 'picture',
          route: '/images',
          cost: '0.041943040000000001',
          quantities: { ...nothing, megapixels: '1.048576', seconds: '7', inputs: 3 },
        },
      ]),
    );
    const totals = (groups: readonly UsageGroup[], page = {}, filter: Partial<UsageFilter> = {}) =>
      ledger.totals({ ...always, subscription, ...filter }, groups, { ...all, ...page });
    const row = (group: readonly string[], requests: number, more: Partial<UsageTotal>): UsageTotal => ({
      group,
      requests,
      ...zero,
      prompt_tokens: requests * 10,
      completion_tokens: requests * 5,
      ...more,
    });
    const picture = {
      prompt_tokens: 0,
      completion_tokens: 0,
      inputs: 3,
      megapixels: '1.048576',
      seconds: '7',
      cost: '0.041943040000000001',
    };
    const byModel = [
      row(['a'], 1, { cost: '0.5' }),
      row(['b'], 3, { failed: 1, prompt_tokens: 20, completion_tokens: 10, cached_tokens: 4, cost: '1.25' }),
      row(['picture'], 1, picture),
    ];
    t.strictSame(await totals(['model']), byModel);
    t.strictSame(await totals(['model'], { limit: 2 }), byModel.slice(0, 2));
    t.strictSame(await totals(['model'], { limit: 2, after: ['b'] }), byModel.slice(2));
    t.strictSame(await totals([]), [
      row([], 5, {
        ...picture,
        failed: 1,
        prompt_tokens: 30,
        completion_tokens: 15,
        cached_tokens: 4,
        cost: '1.791943040000000001',
      }),
    ]);
    const groupsOf = async (groups: readonly UsageGroup[], page = {}) =>
      (await totals(groups, page)).map(({ group }) => group.join(' '));
    t.strictSame(await groupsOf(['day']), ['2026-11-15', '2026-11-16', '2026-11-17']);
    t.strictSame(await groupsOf(['month']), ['2026-11']);
    t.strictSame(await groupsOf(['hour', 'model'], { limit: 2 }), [
      '2026-11-15T12:00Z b',
      '2026-11-16T12:00Z a',
    ]);
    t.strictSame(await groupsOf(['key', 'model']), ['k1 a', 'k1 b', 'k2 b', 'key_a picture']);
    t.strictSame(await groupsOf(['key', 'model'], { after: ['k1', 'b'], limit: 1 }), ['k2 b']);
    t.strictSame(await groupsOf(['route', 'day', 'subscription'], { limit: 1 }), [
      `/chat/completions 2026-11-15 ${subscription}`,
    ]);
    t.strictSame(await totals(['model'], {}, { subscription: 'nobody' }), []);
    t.strictSame(await totals([], {}, { subscription: 'nobody' }), []);
    t.strictSame(await totals([], {}, { from: noon + 1, to: noon + day }), []);
    t.match(await totals([], {}, { from: noon, to: noon + day + 1 }), [{ requests: 4 }]);
    t.match(await totals(['day'], {}, { model: 'b', key: 'k1' }), [{ group: ['2026-11-16'], requests: 2 }]);
    t.match(await totals([], {}, { route: '/images', from: noon + 1 }), [{ requests: 1 }]);
  });

  await t.test('odd names are names', async (t) => {
    const subscription = `${newOwner()} "quoted" o'hara \\ {a:String} \u0000 模型🎵`;
    const odd = ["it's", 'a\\nb', '{x}', '🎵', '%'];
    const events = eventsOf(
      subscription,
      odd.map((model, index) => ({
        model,
        key: `${model}\t`,
        id: `${subscription}${model}`,
        time: noon + index,
      })),
    );
    await ledger.insert(events);
    t.strictSame(await ledger.list({ ...always, subscription }, all), events);
    const totals = await ledger.totals({ ...always, subscription }, ['model', 'key'], all);
    t.strictSame(new Set(totals.map(({ group }) => group[0])), new Set(odd));
    const rest = await ledger.totals({ ...always, subscription }, ['model', 'key'], {
      limit: 9,
      after: totals[2]?.group ?? [],
    });
    t.strictSame(rest, totals.slice(3));
    t.equal((await ledger.find(events)).length, odd.length);
  });

  await t.test('any history agrees with the model', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 4 }),
        fc.array(question, { minLength: 1, maxLength: 4 }),
        async (batches, questions) => {
          const subscription = newOwner();
          const model = createModelLedger();
          for (const rows of batches) {
            const events = rows.map(({ seed, ...row }) => ({
              ...usageEvent(row),
              subscription,
              id: idOf(owners, seed),
            }));
            await ledger.insert(events);
            await model.insert(events);
          }
          for (const ask of questions)
            assert.deepEqual(await ask(ledger, subscription), await ask(model, subscription));
        },
      ),
      { numRuns: histories },
    );
  });

  await t.test('a closed connection rejects calls', async (t) => {
    const closed = open();
    await closed.check();
    await closed.close();
    await t.rejects(closed.insert([usageEvent()]));
    await t.rejects(closed.check(), /^[A-Z].*\.$/, 'a plain sentence');
  });
};

const quantities = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 0, reasoning_tokens: 0 };
const nothing = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };
const zero = {
  failed: 0,
  ...nothing,
  inputs: 0,
  megapixels: '0',
  seconds: '0',
  cost: '0',
};

/** Contents follow from the id, as those of a real event do; so the same id twice is the same event twice. */
const eventOf = (seed: number): Partial<UsageEvent> & { seed: number } => {
  const pick = (count: number, salt: number) => ((seed + 1) * (salt * 7919 + 31)) % count;
  const outcome = (['completed', 'failed', 'cancelled'] as const)[pick(3, 6)] ?? 'completed';
  return {
    seed,
    request_id: `req_${seed}`,
    time: noon - 36 * 3_600_000 + pick(40, 1) * 3 * 3_600_000 + pick(2, 2),
    model: `m${pick(3, 3)}`,
    key: `k${pick(2, 4)}`,
    route: pick(2, 5) === 0 ? '/a' : '/b',
    outcome,
    quantities: {
      prompt_tokens: pick(1000, 7),
      completion_tokens: pick(1000, 8),
      cached_tokens: pick(10, 9),
      reasoning_tokens: pick(10, 10),
      ...(pick(2, 11) === 0
        ? { seconds: String(pick(60, 12)), megapixels: `${pick(9, 13)}.00000000${1 + pick(9, 14)}` }
        : {}),
    },
    cost:
      outcome === 'failed' ? '0' : `${pick(100, 15)}.${String(1 + 10 * pick(9999, 16)).padStart(18, '0')}`,
  };
};

/** Some as those of requests are, near to each other and far apart; some as those of jobs. */
const idOf = (owner: number, seed: number): string =>
  seed % 3 === 0
    ? `usage_job_${owner}_${seed}`
    : `usage_req_${owner.toString(16).padStart(24, '0')}${(1 + seed * (seed % 3 === 1 ? 1 : 4096)).toString(36)}`;

const batch = fc.array(fc.nat(60).map(eventOf), { maxLength: 30 });
const times = fc.nat(200).map((step) => noon - 2 * day + step * 3_600_000);
const groups = fc.subarray(['hour', 'day', 'month', 'model', 'key', 'route'] as const);
const names: fc.Arbitrary<Partial<UsageFilter>> = fc.record(
  { model: fc.constant('m1'), key: fc.constant('k1'), route: fc.constant('/a') },
  { requiredKeys: [] },
);
const order: fc.Arbitrary<{ order?: 'desc' }> = fc.constantFrom({}, { order: 'desc' });
type Question = (ledger: Ledger, subscription: string) => Promise<unknown>;

const question: fc.Arbitrary<Question> = fc.oneof(
  fc.tuple(times, times, names, groups, fc.integer({ min: 1, max: 5 })).map(
    ([from, to, named, by, limit]): Question =>
      async (ledger, subscription) => {
        const filter = { subscription, from, to, ...named };
        const first = await ledger.totals(filter, by, { limit });
        const after = first.at(-1)?.group;
        if (after === undefined || by.length === 0) return first;
        return [first, await ledger.totals(filter, by, { limit: 100, after })];
      },
  ),
  fc.tuple(times, times, names, order, fc.integer({ min: 1, max: 9 })).map(
    ([from, to, named, ordered, limit]): Question =>
      async (ledger, subscription) => {
        const filter = { subscription, from, to, ...named };
        const first = await ledger.list(filter, { limit, ...ordered });
        const after = first.at(-1);
        if (after === undefined) return first;
        return [first, await ledger.list(filter, { limit: 100, after, ...ordered })];
      },
  ),
);
