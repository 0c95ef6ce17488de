/** The contract suite of State adapters. `open` connects to the same store each time. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Test } from 'tap';
import type { ListQuery, NewRecord, RecordIndex, State, StoredRecord } from '../../src/ports/state.ts';
import { createModelState } from './state-model.ts';

export const stateContract = async (t: Test, open: () => State): Promise<void> => {
  const state = open();
  t.teardown(() => state.close());
  await state.check();

  /** Each test works in a kind of its own, so that they share nothing but the store. */
  let kinds = 0;
  const newKind = () => `kind${++kinds}`;
  const fill = async (kind: string, records: readonly NewRecord<unknown>[]) => {
    for (const record of records) assert(await state.create(kind, record));
  };
  const ids = (records: readonly StoredRecord<unknown>[]) => records.map(({ id }) => id);

  t.test('a record is created once, read back, changed by version and removed', async (t) => {
    const kind = newKind();
    const record = { id: 'a', owner: 'sub_1', value: { name: 'first', list: [1, null, 'ü'] } };
    t.equal(await state.get(kind, 'a'), undefined);
    t.equal(await state.create(kind, record), true);
    t.equal(await state.create(kind, { ...record, value: 'other' }), false, 'the id is taken');
    t.strictSame(await state.get(kind, 'a'), { ...record, version: 1 });
    t.equal(await state.get(newKind(), 'a'), undefined, 'kinds are apart');

    t.equal(await state.update(kind, 'a', 1, { value: 'second' }), true);
    t.equal(await state.update(kind, 'a', 1, { value: 'late' }), false, 'the version has moved on');
    t.equal(await state.update(kind, 'b', 1, { value: 'none' }), false, 'there is no such record');
    t.strictSame(await state.get(kind, 'a'), { id: 'a', version: 2, owner: 'sub_1', value: 'second' });

    t.equal(await state.remove(kind, 'a', 1), false, 'the version has moved on');
    t.equal(await state.remove(kind, 'a', 2), true);
    t.equal(await state.remove(kind, 'a'), false);
    t.equal(await state.get(kind, 'a'), undefined);
    t.equal(await state.create(kind, record), true, 'the id is free again');
    t.equal(await state.remove(kind, 'a'), true, 'without a version, whatever it is');
  });

  t.test('lists by order of creation, owner, cursors and direction', async (t) => {
    const kind = newKind();
    const owners = ['one', 'two', 'one', 'one', 'two', 'one'];
    await fill(
      kind,
      owners.map((owner, index) => ({ id: `r${index}`, owner, value: index })),
    );
    const page = async (query: Partial<ListQuery>) =>
      ids(await state.list(kind, { limit: 10, order: 'asc', ...query }));

    t.strictSame(await page({}), ['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    t.strictSame(await page({ order: 'desc' }), ['r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
    t.strictSame(await page({ limit: 2 }), ['r0', 'r1']);
    t.strictSame(await page({ limit: 0 }), []);
    t.strictSame(await page({ owner: 'one' }), ['r0', 'r2', 'r3', 'r5']);
    t.strictSame(await page({ owner: 'nobody' }), []);
    t.strictSame(await page({ after: 'r1', limit: 2 }), ['r2', 'r3']);
    t.strictSame(await page({ after: 'r1', order: 'desc' }), ['r0']);
    t.strictSame(await page({ owner: 'one', after: 'r2' }), ['r3', 'r5']);
    t.strictSame(await page({ before: 'r3' }), ['r0', 'r1', 'r2']);
    t.strictSame(await page({ before: 'r3', limit: 2 }), ['r1', 'r2'], 'the page that ends there');
    t.strictSame(await page({ before: 'r3', order: 'desc' }), ['r5', 'r4']);
    t.strictSame(await page({ before: 'r2', order: 'desc', limit: 2 }), ['r4', 'r3']);
    t.strictSame(await page({ after: 'r0', before: 'r4' }), ['r1', 'r2', 'r3']);
    t.strictSame(await page({ after: 'r4', before: 'r0', order: 'desc', limit: 2 }), ['r3', 'r2']);
    t.strictSame(await page({ after: 'r4', before: 'r0' }), [], 'cursors that cross');
    t.strictSame(await page({ after: 'nothing' }), []);
    t.strictSame(await page({ before: 'nothing' }), []);
    t.strictSame(await page({ owner: 'one', after: 'r1' }), [], 'a record of another listing is unknown');

    await state.update(kind, 'r0', 1, { value: 'changed' });
    await state.remove(kind, 'r3');
    t.equal(await state.create(kind, { id: 'r3', owner: 'two', value: 3 }), true);
    t.strictSame(
      await page({}),
      ['r0', 'r1', 'r2', 'r4', 'r5', 'r3'],
      'a change keeps the place, a new one is last',
    );
    t.strictSame(await page({ owner: 'one' }), ['r0', 'r2', 'r5']);
    t.strictSame((await state.list(kind, { limit: 1, order: 'desc' }))[0], {
      id: 'r3',
      version: 1,
      owner: 'two',
      value: 3,
    });
  });

  t.test('finds what is due, earliest first, ties by order of creation', async (t) => {
    const kind = newKind();
    const now = 1_794_709_194_420;
    const index = (due: number, group = 'queue'): { index: RecordIndex } => ({ index: { group, due } });
    await fill(kind, [
      { id: 'later', owner: 'o', value: 0, ...index(now + 5) },
      { id: 'z-tie', owner: 'o', value: 1, ...index(now) },
      { id: 'a-tie', owner: 'o', value: 2, ...index(now) },
      { id: 'early', owner: 'o', value: 3, ...index(now - 1) },
      { id: 'other', owner: 'o', value: 4, ...index(now - 1, 'another') },
      { id: 'idle', owner: 'o', value: 5 },
    ]);
    const due = async (until: number, limit = 10, group = 'queue') =>
      ids(await state.due(kind, { group, until, limit }));
    const count = (until: number, group = 'queue') => state.countDue(kind, { group, until });

    t.strictSame(await due(now), ['early', 'z-tie', 'a-tie']);
    t.strictSame(await due(now, 2), ['early', 'z-tie']);
    t.strictSame(await due(now - 2), []);
    t.strictSame(await due(Number.POSITIVE_INFINITY), ['early', 'z-tie', 'a-tie', 'later']);
    t.strictSame(await due(now, 10, 'another'), ['other']);
    t.strictSame(await due(now, 10, 'empty'), []);
    t.equal(await count(now), 3);
    t.equal(await count(now - 2), 0);
    t.equal(await count(Number.POSITIVE_INFINITY), 4);
    t.strictSame((await state.due(kind, { group: 'another', until: now, limit: 1 }))[0], {
      id: 'other',
      version: 1,
      owner: 'o',
      value: 4,
    });

    await state.update(kind, 'z-tie', 1, { value: 1, ...index(now + 9) });
    await state.update(kind, 'a-tie', 1, { value: 2, ...index(now, 'another') });
    await state.update(kind, 'early', 1, { value: 3 });
    await state.update(kind, 'idle', 1, { value: 5, ...index(now + 9) });
    await state.remove(kind, 'other');
    t.strictSame(await due(now + 9), ['later', 'z-tie', 'idle'], 'moved, joined, left');
    t.strictSame(await due(now, 10, 'another'), ['a-tie']);
    t.equal(await state.update(kind, 'later', 7, { value: 0 }), false);
    t.equal(await count(now + 9), 3, 'a refused update moves nothing');
  });

  t.test('of many updates of one version exactly one wins', async (t) => {
    const kind = newKind();
    await fill(kind, [{ id: 'contested', owner: 'o', value: 'start' }]);
    const others = [state, open(), open()];
    const updates = Array.from({ length: 50 }, (_, index) =>
      (others[index % 3] ?? state).update(kind, 'contested', 1, { value: index }),
    );
    const outcomes = await Promise.all(updates);
    const winner = outcomes.indexOf(true);
    t.equal(outcomes.filter(Boolean).length, 1);
    t.strictSame(await state.get(kind, 'contested'), {
      id: 'contested',
      version: 2,
      owner: 'o',
      value: winner,
    });

    const creations = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (others[index % 3] ?? state).create(kind, { id: 'new', owner: 'o', value: index }),
      ),
    );
    t.equal(creations.filter(Boolean).length, 1);
    const removals = await Promise.all(others.map((other) => other.remove(kind, 'new')));
    t.equal(removals.filter(Boolean).length, 1);
    for (const other of others.slice(1)) await other.close();
  });

  t.test('writes are visible to other connections, and after reopening', async (t) => {
    const kind = newKind();
    const first = open();
    await first.create(kind, { id: 'kept', owner: 'o', value: 1, index: { group: 'g', due: 5 } });
    t.strictSame((await state.get(kind, 'kept'))?.value, 1);
    await state.update(kind, 'kept', 1, { value: 2, index: { group: 'g', due: 6 } });
    t.strictSame((await first.get(kind, 'kept'))?.value, 2);
    await first.close();
    await first.close();
    await t.rejects(first.get(kind, 'kept'), { name: 'ApiError', kind: 'unavailable', status: 503 });
    await t.rejects(first.check(), /^[A-Z].*\.$/, 'a plain sentence');
    const second = open();
    await second.check();
    t.strictSame(await second.due(kind, { group: 'g', until: 6, limit: 1 }), [
      { id: 'kept', version: 2, owner: 'o', value: 2 },
    ]);
    await second.close();
  });

  t.test('takes big values and odd ids', async (t) => {
    const kind = newKind();
    const big = { text: 'ß\u0000"\\\n'.repeat(200_000), many: Array.from({ length: 50_000 }, (_, n) => n) };
    await fill(kind, [{ id: 'big', owner: 'o', value: big }]);
    t.strictSame((await state.get(kind, 'big'))?.value, big);

    const odd = [
      '',
      ' ',
      'a/b',
      'a:b',
      '{a}b',
      "o'hara",
      '"quoted"',
      '%_\\',
      '模型/大',
      '🎵',
      'ÄÖ',
      'äö',
      '__proto__',
    ];
    const oddKind = newKind();
    await fill(
      oddKind,
      odd.map((id) => ({ id, owner: id, value: { id }, index: { group: id, due: 1 } })),
    );
    t.strictSame(ids(await state.list(oddKind, { limit: 100, order: 'asc' })), odd);
    for (const id of odd) {
      const record = { id, version: 1, owner: id, value: { id } };
      t.strictSame(await state.get(oddKind, id), record);
      t.strictSame(await state.list(oddKind, { owner: id, limit: 9, order: 'desc' }), [record]);
      t.strictSame(await state.due(oddKind, { group: id, until: 1, limit: 9 }), [record]);
    }
    t.equal(await state.get(oddKind, 'a/b\u0000c'), undefined, 'an id does not end at a zero byte');
    t.equal(await state.get(oddKind, "' OR 1=1 --"), undefined);
  });

  t.test('any history of calls agrees with the model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 60 }), async (calls) => {
        const kind = newKind();
        const model = createModelState();
        for (const step of calls) assert.deepEqual(await step(state, kind), await step(model, kind));
      }),
      { numRuns: 60 },
    );
  });
};

/** A few ids, owners, groups and times, so that calls meet. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const owner = fc.constantFrom('one', 'two');
const version = fc.integer({ min: 1, max: 4 });
const limit = fc.integer({ min: 0, max: 6 });
const group = fc.constantFrom('x', 'y');
const time = fc.integer({ min: 0, max: 5 });
const index = fc.record({ group, due: time });
const value = fc.jsonValue({ maxDepth: 2 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

type Call = ((state: State, kind: string) => Promise<unknown>) & {
  readonly [fc.toStringMethod]: () => string;
};

/** A call whose name and arguments are shown in a counterexample. */
const calling = <Args extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (state: State, kind: string, args: Args) => Promise<unknown>,
): fc.Arbitrary<Call> =>
  args.map((given) =>
    Object.assign((state: State, kind: string) => run(state, kind, given), {
      [fc.toStringMethod]: () => `${name}(${JSON.stringify(given).slice(1, -1)})`,
    }),
  );

const newRecord = fc.record({ id, owner, value, index }, { requiredKeys: ['id', 'owner', 'value'] });
const change = fc.record({ value, index }, { requiredKeys: ['value'] });
const dueQuery = fc.record({ group, until: time, limit });
const listQuery = fc.record(
  { owner, after: id, before: id, limit, order: fc.constantFrom('asc' as const, 'desc' as const) },
  { requiredKeys: ['limit', 'order'] },
);

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 4,
    arbitrary: calling('create', fc.tuple(newRecord), (state, kind, args) => state.create(kind, ...args)),
  },
  {
    weight: 3,
    arbitrary: calling('update', fc.tuple(id, version, change), (state, kind, args) =>
      state.update(kind, ...args),
    ),
  },
  {
    weight: 3,
    arbitrary: calling('list', fc.tuple(listQuery), (state, kind, args) => state.list(kind, ...args)),
  },
  calling('remove', fc.tuple(id, maybe(version)), (state, kind, args) => state.remove(kind, ...args)),
  calling('get', fc.tuple(id), (state, kind, args) => state.get(kind, ...args)),
  calling('due', fc.tuple(dueQuery), (state, kind, args) => state.due(kind, ...args)),
  calling('countDue', fc.tuple(dueQuery), (state, kind, args) => state.countDue(kind, ...args)),
);
