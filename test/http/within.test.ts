/** Tests how long a promise is waited for, and what becomes of it afterwards. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { within } from '../../src/helpers/within.ts';

const late = (): never => {
  throw new Error('late');
};

t.test('what the work gives in time', async (t) => {
  t.equal(await within(60_000, Promise.resolve('done'), late), 'done');
  await t.rejects(within(60_000, Promise.reject(new Error('failed')), late), { message: 'failed' });
});

// Nothing else keeps this process: only the time limit itself.
t.test('after its time', async (t) => {
  const forever = new Promise<string>(() => undefined);
  await t.rejects(within(5, forever, late), { message: 'late' });
  t.equal(await within(5, forever, () => undefined), undefined);
});

t.test('work that fails after its time does so unseen', async (t) => {
  const unseen: unknown[] = [];
  const note = (reason: unknown): void => {
    unseen.push(reason);
  };
  process.on('unhandledRejection', note);
  const work = delay(20).then(() => {
    throw new Error('too late to matter');
  });
  t.equal(await within(5, work, () => 'given up'), 'given up');
  await delay(40);
  process.off('unhandledRejection', note);
  t.strictSame(unseen, []);
});
