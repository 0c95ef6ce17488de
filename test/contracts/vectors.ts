/** The contract suite of Vectors adapters. `open` connects to the same store each time. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Test } from 'tap';
import type { Hit, Point, Vectors } from '../../src/ports/vectors.ts';
import { createModelVectors } from './vectors-model.ts';

export const vectorsContract = async (
  t: Test,
  open: () => Vectors,
  { histories = 40 } = {},
): Promise<void> => {
  const vectors = open();
  t.teardown(() => vectors.close());
  await vectors.check();

  /** Each test works in stores of its own, so that they share nothing but the server. */
  const run = Math.random().toString(36).slice(2);
  let stores = 0;
  const newStore = async (dimensions = 4): Promise<string> => {
    const store = `vs_${run}_${++stores}`;
    await vectors.create(store, dimensions);
    return store;
  };

  t.test('a file is found whole, once it is published', async (t) => {
    const store = await newStore();
    const [one, two] = [newPoint('a', [1, 0, 0, 0]), newPoint('b', [1, 1, 0, 0], { index: 1 })];
    await vectors.upsert(store, [one, two]);
    t.strictSame(await sights(vectors, store, 'a'), nothing, 'not before');
    t.equal(await vectors.describe(store, 'a', change([0, 1, 0, 0])), false);
    t.equal(await vectors.remove(store, 'a'), false);

    await vectors.publish(store, 'file-1');
    t.strictSame(await vectors.get(store, 'a'), itemOf(one));
    t.strictSame(await vectors.list(store, { limit: 9, order: 'asc' }), [itemOf(one), itemOf(two)]);
    t.equal(await vectors.count(store), 2);
    t.strictSame(rounded(await vectors.search(store, vector([2, 0, 0, 0]), { limit: 9 })), [
      { ...itemOf(one), similarity: 1 },
      { ...itemOf(two), similarity: Math.round(Math.SQRT1_2 * 1e5) / 1e5 },
    ]);

    await vectors.upsert(store, [newPoint('c', [1, 0, 0, 0], { index: 2 })]);
    t.strictSame(await idsOf(vectors, store), ['a', 'b'], 'what is added later waits for the next one');
    await vectors.upsert(store, [{ ...one, text: 'other' }]);
    t.strictSame(await idsOf(vectors, store), ['b'], 'and so does what is replaced');
    await vectors.publish(store, 'file-1');
    t.strictSame(await idsOf(vectors, store), ['a', 'c', 'b']);
    t.equal((await vectors.get(store, 'a'))?.text, 'other');
    await vectors.publish(store, 'file-9');
    t.equal(await vectors.count(store), 3, 'a file without points has nothing to publish');
  });

  t.test('removed items are gone, and updated items are found by their new text', async (t) => {
    const store = await newStore();
    await vectors.upsert(store, [
      newPoint('a', [1, 0, 0, 0]),
      newPoint('b', [0, 1, 0, 0]),
      newPoint('c', [0, 0, 1, 0], { file: 'file-2' }),
    ]);
    for (const file of ['file-1', 'file-2']) await vectors.publish(store, file);

    t.equal(await vectors.describe(store, 'b', { ...change([1, 0, 0, 0]), description: 'über a' }), true);
    t.strictSame(await vectors.get(store, 'b'), {
      ...itemOf(newPoint('b', [])),
      description: 'über a',
      updatedAt: 9_000,
    });
    t.strictSame(await idsOf(vectors, store), ['a', 'b', 'c'], 'ties by id');
    t.equal(await vectors.describe(store, 'nothing', change([1, 0, 0, 0])), false);

    t.equal(await vectors.remove(store, 'a'), true);
    t.equal(await vectors.remove(store, 'a'), false);
    t.strictSame(await idsOf(vectors, store), ['b', 'c']);
    t.equal(await vectors.describe(store, 'a', change([1, 0, 0, 0])), false);
    await vectors.publish(store, 'file-1');
    t.strictSame(await idsOf(vectors, store), ['b', 'c'], 'publication brings nothing back');

    await vectors.upsert(store, [newPoint('d', [1, 0, 0, 0], { file: 'file-2' })]);
    await vectors.removeFile(store, 'file-2');
    await vectors.removeFile(store, 'file-2');
    await vectors.publish(store, 'file-2');
    t.strictSame(await idsOf(vectors, store), ['b'], 'a file goes with what was not published');

    await vectors.drop(store);
    await vectors.drop(store);
    t.strictSame(await sights(vectors, store, 'b'), nothing);
    const gone = { name: 'ApiError', kind: 'not_found' };
    await t.rejects(vectors.upsert(store, [newPoint('a', [1, 0, 0, 0])]), gone);
    await t.rejects(vectors.publish(store, 'file-1'), gone);
    t.equal(await vectors.remove(store, 'b'), false);
    await vectors.removeFile(store, 'file-1');

    await vectors.create(store, 4);
    t.strictSame(await sights(vectors, store, 'b'), nothing, 'a new one of the same name is empty');
  });

  t.test('stores and their dimensions are isolated', async (t) => {
    const [small, large, none] = [await newStore(3), await newStore(300), await newStore()];
    await vectors.create(small, 3);
    const ones = Array<number>(300).fill(1);
    await vectors.upsert(small, [newPoint('a', [1, 2, 3])]);
    await vectors.upsert(large, [newPoint('a', ones, { text: 'large' })]);
    for (const store of [small, large]) await vectors.publish(store, 'file-1');
    t.equal((await vectors.get(small, 'a'))?.text, 'text of a');
    t.equal((await vectors.get(large, 'a'))?.text, 'large');
    const [hit] = await vectors.search(large, vector(ones), { limit: 1 });
    t.match(hit, { id: 'a', text: 'large' });
    await vectors.drop(small);
    t.equal(await vectors.count(large), 1);
    t.strictSame(await sights(vectors, none, 'a'), nothing, 'an empty one');
    const wrong = { name: 'ApiError', kind: 'internal' };
    await t.rejects(vectors.create(large, 4), wrong);
    await t.rejects(vectors.upsert(large, [newPoint('b', [1, 2, 3])]), wrong);
    await t.rejects(vectors.describe(large, 'a', change([1, 2, 3])), wrong);
    await t.rejects(vectors.search(large, vector([1, 2, 3]), { limit: 1 }), wrong);
  });

  t.test('search: limit, minimum, file and ties', async (t) => {
    const store = await newStore();
    const points = Array.from({ length: 40 }, (_, index) =>
      newPoint(`item_${String((index * 7) % 40).padStart(2, '0')}`, index % 2 ? [1, 0, 0, 0] : [1, 1, 0, 0], {
        file: `file-${index % 4}`,
        index,
      }),
    );
    await vectors.upsert(store, points);
    for (let file = 0; file < 4; file++) await vectors.publish(store, `file-${file}`);
    const query = vector([1, 0, 0, 0]);
    const found = async (options: Parameters<Vectors['search']>[2]) =>
      (await vectors.search(store, query, options)).map(({ id }) => id);
    const near = points
      .filter((_, index) => index % 2)
      .map(({ id }) => id)
      .sort();
    t.strictSame(await found({ limit: 5 }), near.slice(0, 5), 'the first ids of equals, wherever it is cut');
    t.strictSame(await found({ limit: 100, minimum: 0.9 }), near);
    t.equal((await found({ limit: 100, minimum: 0.7 })).length, 40);
    t.strictSame(await found({ limit: 100, minimum: 1.01 }), []);
    t.strictSame(await found({ limit: 0 }), []);
    const ofFile = points
      .filter(({ file }) => file === 'file-3')
      .map(({ id }) => id)
      .sort();
    t.strictSame(await found({ limit: 100, file: 'file-3' }), ofFile);
    t.strictSame(await found({ limit: 3, file: 'file-3' }), ofFile.slice(0, 3));
    t.strictSame(await found({ limit: 9, file: 'file-9' }), []);
    t.strictSame(await found({ limit: 100, file: 'file-0', minimum: 0.9 }), []);
  });

  t.test('lists by creation, position and id, by page, in both directions', async (t) => {
    const store = await newStore();
    // Many in one millisecond, some in the same place too.
    const points = Array.from({ length: 45 }, (_, index) =>
      newPoint(`item_${(index * 17) % 45}`, [1, 0, 0, index], {
        file: `file-${index % 3}`,
        createdAt: 1_700_000_000_000 + Math.floor(index / 20),
        index: Math.floor(index / 2) % 10,
      }),
    );
    await vectors.upsert(store, points);
    for (let file = 0; file < 3; file++) await vectors.publish(store, `file-${file}`);
    const model = createModelVectors();
    await model.create(store, 4);
    await model.upsert(store, points);
    for (let file = 0; file < 3; file++) await model.publish(store, `file-${file}`);
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [6, 20, 100])
        for (const file of [undefined, 'file-1']) {
          const which = { order, ...(file !== undefined && { file }) };
          const expected = await model.list(store, { ...which, limit: 100 });
          const pages: unknown[] = [];
          for (let after: string | undefined; ; ) {
            const page = await vectors.list(store, {
              ...which,
              limit,
              ...(after !== undefined && { after }),
            });
            pages.push(...page);
            after = page.at(-1)?.id;
            if (page.length < limit) break;
          }
          t.strictSame(pages, expected, JSON.stringify({ ...which, limit }));
        }
    t.strictSame(await vectors.list(store, { limit: 9, order: 'asc', after: 'nothing' }), []);
    t.strictSame(await vectors.list(store, { limit: 9, order: 'asc', file: 'nothing' }), []);
  });

  t.test('writes are visible to other connections, and after reopening', async (t) => {
    const store = await newStore();
    const first = open();
    await first.upsert(store, [newPoint('a', [1, 0, 0, 0]), newPoint('b', [0, 1, 0, 0])]);
    await vectors.publish(store, 'file-1');
    t.strictSame(await idsOf(first, store), ['a', 'b']);
    t.strictSame(await idsOf(vectors, store), ['a', 'b']);
    await first.remove(store, 'a');
    t.strictSame(await idsOf(vectors, store), ['b']);
    await vectors.describe(store, 'b', change([0, 0, 1, 0]));
    const [hit] = await first.search(store, vector([0, 0, 1, 0]), { limit: 1, minimum: 0.99 });
    t.equal(hit?.id, 'b');
    await vectors.upsert(store, [newPoint('c', [1, 0, 0, 0])]);
    await first.close();
    await first.close();
    await t.rejects(first.get(store, 'b'), { name: 'ApiError', kind: 'unavailable', status: 503 });
    await t.rejects(first.search(store, vector([1, 0, 0, 0]), { limit: 1 }), {
      name: 'ApiError',
      kind: 'unavailable',
    });
    await t.rejects(first.check(), /^[A-Z].*\.$/, 'a plain sentence');
    const second = open();
    await second.check();
    t.strictSame(await idsOf(second, store), ['b']);
    await second.publish(store, 'file-1');
    t.strictSame(await idsOf(second, store), ['c', 'b']);
    await second.close();
  });

  t.test('takes large texts, any script and odd names', async (t) => {
    const store = await newStore();
    const odd = [
      'plain',
      'ÄÖ äö',
      '模型/大',
      '🎵🎻',
      '"\\\n\t\u0000\u001f',
      "o'hara; DROP TABLE",
      '%_*',
      '‮rtl',
    ];
    const points = odd.map((words, index) =>
      newPoint(`item_${index}`, [1, 0, 0, index], {
        filename: `${words}.txt`,
        text: words.repeat(50_000 / words.length),
        description: words,
        index,
      }),
    );
    await vectors.upsert(store, points);
    await vectors.publish(store, 'file-1');
    t.strictSame(await vectors.list(store, { limit: 99, order: 'asc' }), points.map(itemOf));
    await vectors.describe(store, 'item_0', {
      ...change([1, 0, 0, 0]),
      description: 'half \ud83c of a pair',
    });
    t.equal((await vectors.get(store, 'item_0'))?.description, 'half \ufffd of a pair');
    for (const id of odd.filter((words) => !words.includes('\u0000'))) {
      await vectors.upsert(store, [newPoint(id, [0, 1, 0, 0], { file: id })]);
      await vectors.publish(store, id);
      t.equal((await vectors.get(store, id))?.id, id);
      t.equal((await vectors.search(store, vector([0, 1, 0, 0]), { limit: 9, file: id })).length, 1);
      await vectors.removeFile(store, id);
    }
    const many = Array.from({ length: 150 }, (_, index) =>
      newPoint(`many_${index}`, [0, 0, 1, index], { file: 'many', index }),
    );
    await vectors.upsert(store, many);
    await vectors.publish(store, 'many');
    t.equal(await vectors.count(store), odd.length + 150);
    t.equal((await vectors.search(store, vector([0, 0, 1, 0]), { limit: 500, file: 'many' })).length, 150);
  });

  t.test('adds, removals, publications and searches at once', async (t) => {
    const store = await newStore();
    const others = [vectors, open(), open()];
    const query = vector([1, 0, 0, 0]);
    const removed = new Set<string>();
    let isOver = false;
    const wrong: string[] = [];
    const search = async (from: Vectors) => {
      const before = new Set(removed);
      for (const { id, file } of await from.search(store, query, { limit: 1_000 })) {
        if (before.has(id)) wrong.push(`${id} was removed`);
        if (file.startsWith('never')) wrong.push(`${id} is not published`);
      }
    };
    const searching = others.map(async (from) => {
      do await search(from);
      while (!isOver);
    });
    await Promise.all(
      others.map(async (to, worker) => {
        for (let file = 0; file < 4; file++) {
          const name = `file-${worker}-${file}`;
          const points = Array.from({ length: 6 }, (_, index) =>
            newPoint(`${name}-${index}`, [1, worker, file, index], { file: name, index }),
          );
          await to.upsert(store, points);
          await to.upsert(store, [newPoint(`never-${name}`, [1, 0, 0, 0], { file: `never-${name}` })]);
          await to.publish(store, name);
          for (const { id } of points.slice(0, 2)) {
            assert(await to.remove(store, id));
            removed.add(id);
          }
          if (file % 2 === 1) continue;
          await to.removeFile(store, name);
          for (const { id } of points) removed.add(id);
        }
      }),
    );
    isOver = true;
    await Promise.all(searching);
    t.strictSame(wrong, []);
    for (const other of others) {
      await search(other);
      t.equal(await other.count(store), 3 * 2 * 4);
      t.equal((await other.search(store, query, { limit: 1_000 })).length, 3 * 2 * 4);
    }
    for (const other of others.slice(1)) await other.close();
  });

  t.test('any history of calls agrees with the model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 30 }), async (calls) => {
        const store = await newStore();
        const model = createModelVectors();
        await model.create(store, 4);
        for (const step of calls) assert.deepEqual(await step(vectors, store), await step(model, store));
        await vectors.drop(store);
      }),
      // A server is slow to ask: a counterexample that is not the smallest in time is shown as it is.
      { numRuns: histories, interruptAfterTimeLimit: 120_000 },
    );
  });
};

const vector = (numbers: readonly number[]): Float32Array => Float32Array.from(numbers);

const newPoint = (id: string, numbers: readonly number[], others: Partial<Point> = {}): Point => ({
  id,
  file: 'file-1',
  filename: 'a.txt',
  index: 0,
  text: `text of ${id}`,
  description: '',
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
  vector: vector(numbers),
  ...others,
});

const itemOf = ({ vector: _, ...item }: Point) => item;
const change = (numbers: readonly number[]) => ({
  description: '',
  vector: vector(numbers),
  updatedAt: 9_000,
});

/** Adapters add in their own order and width. */
const rounded = (hits: readonly Hit[]) =>
  hits.map((hit) => ({ ...hit, similarity: Math.round(hit.similarity * 1e5) / 1e5 + 0 }));

const idsOf = async (vectors: Vectors, store: string): Promise<readonly string[]> =>
  (await vectors.search(store, vector([1, 0, 0, 0]), { limit: 100 })).map(({ id }) => id);

const sights = async (vectors: Vectors, store: string, id: string) => ({
  get: await vectors.get(store, id),
  list: await vectors.list(store, { limit: 9, order: 'asc' }),
  count: await vectors.count(store),
  search: await vectors.search(store, vector([1, 0, 0, 0]), { limit: 9 }),
});
const nothing = { get: undefined, list: [], count: 0, search: [] };

/** A few ids and files, so that calls meet. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const file = fc.constantFrom('file-1', 'file-2');
const text = fc.string({ unit: 'grapheme', maxLength: 8 });
/** Directions on a circle, and others to ask for: seen from any of those, no two of these are nearly as near, so that adapters that add in another order agree on theirs. */
const onCircle = (degrees: number): readonly number[] => {
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), 0, Math.sin(angle), 0];
};
const numbers = fc.constantFrom(0, 17, 41, 75, 118, 163, 201, 290).map(onCircle);
const question = fc.constantFrom(5, 88, 137, 260).map(onCircle);
const limit = fc.integer({ min: 0, max: 7 });
const point = fc
  .record({
    id,
    file,
    filename: text,
    index: fc.integer({ min: 0, max: 3 }),
    text,
    description: text,
    createdAt: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_002 }),
    updatedAt: fc.integer({ min: 0, max: 9 }),
  })
  .chain((item) => numbers.map((some) => ({ ...item, vector: vector(some) })));

type Call = ((vectors: Vectors, store: string) => Promise<unknown>) & {
  readonly [fc.toStringMethod]: () => string;
};

/** A call whose name and arguments are shown in a counterexample. */
const calling = <Args extends readonly unknown[]>(
  name: string,
  args: fc.Arbitrary<Args>,
  perform: (vectors: Vectors, store: string, args: Args) => Promise<unknown>,
): fc.Arbitrary<Call> =>
  args.map((given) =>
    Object.assign((vectors: Vectors, store: string) => perform(vectors, store, given), {
      [fc.toStringMethod]: () => `${name}(${JSON.stringify(given).slice(1, -1)})`,
    }),
  );

const page = fc.record(
  { after: id, limit, order: fc.constantFrom('asc' as const, 'desc' as const), file },
  { requiredKeys: ['limit', 'order'] },
);
const options = fc.record(
  { limit, minimum: fc.constantFrom(-0.1, 0.3, 0.6), file },
  { requiredKeys: ['limit'] },
);
const description = fc.record({ description: text, vector: numbers.map(vector), updatedAt: fc.nat(9) });

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 4,
    arbitrary: calling(
      'upsert',
      fc.tuple(fc.uniqueArray(point, { minLength: 1, maxLength: 4, selector: ({ id }) => id })),
      (vectors, store, [points]) => vectors.upsert(store, points),
    ),
  },
  {
    weight: 4,
    arbitrary: calling('publish', fc.tuple(file), (vectors, store, args) => vectors.publish(store, ...args)),
  },
  {
    weight: 5,
    arbitrary: calling('search', fc.tuple(question, options), async (vectors, store, [query, which]) =>
      rounded(await vectors.search(store, vector(query), which)),
    ),
  },
  {
    weight: 3,
    arbitrary: calling('list', fc.tuple(page), (vectors, store, args) => vectors.list(store, ...args)),
  },
  calling('get', fc.tuple(id), (vectors, store, args) => vectors.get(store, ...args)),
  calling('count', fc.tuple(), (vectors, store) => vectors.count(store)),
  calling('describe', fc.tuple(id, description), (vectors, store, args) => vectors.describe(store, ...args)),
  calling('remove', fc.tuple(id), (vectors, store, args) => vectors.remove(store, ...args)),
  calling('removeFile', fc.tuple(file), (vectors, store, args) => vectors.removeFile(store, ...args)),
  calling('drop', fc.tuple(), async (vectors, store) => {
    await vectors.drop(store);
    await vectors.create(store, 4);
  }),
);
