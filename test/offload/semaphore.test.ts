/** Tests the shares of a resource and its fair semaphore, also with random loads. */
import fc from 'fast-check';
import t from 'tap';
import { Semaphore } from '../../src/helpers/semaphore.ts';
import { Shares } from '../../src/helpers/shares.ts';

const signal = new AbortController().signal;
const busy = 'busy';

t.test('shares: a part is kept for the others', async (t) => {
  const largest = (capacity: number): number => {
    const shares = new Shares(capacity);
    while (shares.hasRoom('a')) shares.take('a');
    return shares.total;
  };
  t.same([1, 2, 3, 4, 16, 32].map(largest), [1, 1, 2, 3, 12, 24]);
  const shares = new Shares(2);
  shares.take('a');
  t.equal(shares.hasRoom('a'), false);
  shares.take('b');
  t.equal(shares.hasRoom('c'), false);
  shares.give('a');
  t.equal(shares.hasRoom('a'), true);
});

t.test('waiting, aborting and refusing', async (t) => {
  const semaphore = new Semaphore({ permits: 1, maxWaiters: 1, busy });
  let finish = () => {};
  const first = semaphore.run(
    { subscription: 'a', signal },
    () => new Promise<void>((resolve) => (finish = resolve)),
  );
  const leaving = new AbortController();
  const second = semaphore.run({ subscription: 'a', signal: leaving.signal }, async () => 'second');
  await t.rejects(
    semaphore.run({ subscription: 'a', signal }, async () => 'third'),
    { kind: 'unavailable', message: busy },
  );
  t.same(semaphore.stats(), { running: 1, waiting: 1, refused: 1 });
  leaving.abort(new Error('left'));
  await t.rejects(second, { message: 'left' });
  const fourth = semaphore.run({ subscription: 'b', signal }, async () => 'fourth');
  finish();
  await first;
  t.equal(await fourth, 'fourth');
  await t.rejects(
    semaphore.run({ subscription: 'a', signal }, () => Promise.reject(new Error('work'))),
    { message: 'work' },
  );
  t.same(semaphore.stats(), { running: 0, waiting: 0, refused: 1 });
});

t.test('never more than the permits, nor one subscription all of them; everybody is served', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.record({ subscription: fc.constantFrom('a', 'b', 'c'), ticks: fc.nat(3) }), {
        maxLength: 40,
      }),
      async (permits, tasks) => {
        const semaphore = new Semaphore({ permits, maxWaiters: 100, busy });
        const running: string[] = [];
        const done = await Promise.all(
          tasks.map(({ subscription, ticks }) =>
            semaphore.run({ subscription, signal }, async () => {
              running.push(subscription);
              const own = running.filter((each) => each === subscription).length;
              const fits = running.length <= permits && (permits === 1 || own < permits);
              for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
              running.splice(running.indexOf(subscription), 1);
              return fits;
            }),
          ),
        );
        const { running: left, waiting } = semaphore.stats();
        return done.every(Boolean) && left === 0 && waiting === 0;
      },
    ),
  );
});

t.test('large work takes several permits, never more than one subscription may have', async (t) => {
  const semaphore = new Semaphore({ permits: 4, maxWaiters: 100, busy });
  let finish = () => {};
  const large = semaphore.run(
    { subscription: 'a', signal },
    () => new Promise<void>((resolve) => (finish = resolve)),
    9,
  );
  t.equal(semaphore.stats().running, 3);
  const next = semaphore.run({ subscription: 'a', signal }, async () => 'next', 2);
  t.equal(await semaphore.run({ subscription: 'b', signal }, async () => 'small'), 'small');
  t.same(semaphore.stats(), { running: 3, waiting: 1, refused: 0 });
  finish();
  await large;
  t.equal(await next, 'next');
  t.same(semaphore.stats(), { running: 0, waiting: 0, refused: 0 });
});

t.test('a newcomer is served before the rest of a long queue', async (t) => {
  const semaphore = new Semaphore({ permits: 1, maxWaiters: 100, busy });
  const order: string[] = [];
  const served = (subscription: string) =>
    semaphore.run({ subscription, signal }, async () => {
      order.push(subscription);
    });
  const all = Array.from({ length: 20 }, () => served('greedy'));
  await Promise.all([...all, served('newcomer')]);
  t.ok(order.indexOf('newcomer') <= 2, `after ${order.indexOf('newcomer')}`);
});
