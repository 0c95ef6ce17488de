/** Tests in-process admission: the contract, memory bounds, stack depth and clock changes. */

import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import t from 'tap';
import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import { StartWindow } from '../../src/adapters/admission/start-window.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import { admissionContract } from '../contracts/admission.ts';
import { Client, request } from './client.ts';
import { VirtualClock } from './virtual-clock.ts';

t.test('contract', async (t) => {
  await admissionContract(
    t,
    async (rules) => {
      const clock = new VirtualClock();
      const admission = createLocalAdmission({ ...rules, clock });
      return { replicas: [admission, admission], clock, close: () => admission.close() };
    },
    200,
  );
});

t.test('a free slot gives the lease synchronously', async (t) => {
  const admission = createLocalAdmission();
  t.teardown(() => admission.close());
  const client = new Client(admission, request());
  t.strictSame(client.outcome, { kind: 'admitted', waited: 0 });
  const next = new Client(admission, request());
  client.release();
  t.match(next.outcome, { kind: 'admitted', position: 1 });
});

t.test(
  'ten thousand subscriptions with ten models use little memory, and none after the window',
  async (t) => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const heap = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const clock = new VirtualClock();
    const admission = createLocalAdmission({ clock });
    t.teardown(() => admission.close());
    const subscriptions = Array.from({ length: 10_000 }, (_, index) => `sub_${index}`);
    const models = Array.from({ length: 10 }, (_, index) => `acme/model-${index}`);
    const limits = { concurrency: 4, requests_per_minute: 60_000 };
    const before = heap();
    let admitted = 0;
    for (const subscription of subscriptions)
      for (const model of models)
        emitted(admission.admit({ subscription, model, limits })).subscribe((lease) => {
          admitted++;
          lease.release();
        });
    t.equal(admitted, 100_000);
    t.equal(admission.gates(), 100_000);
    const each = (heap() - before) / 100_000;
    t.ok(each < 700, `${Math.round(each)} bytes a gate`);
    await clock.advance(59_999);
    t.equal(admission.gates(), 100_000, 'all still count');
    await clock.advance(30_000);
    t.equal(admission.gates(), 0);
    const left = (heap() - before) / 100_000;
    t.ok(left < 20, `${Math.round(left)} bytes a gate are left`);
  },
);

t.test('gates in use are kept while idle ones are removed', async (t) => {
  const clock = new VirtualClock();
  const admission = createLocalAdmission({ clock, queueMs: 600_000 });
  t.teardown(() => admission.close());
  const runner = new Client(admission, request({}, 'runs'));
  const waiter = new Client(admission, request({}, 'runs'));
  new Client(admission, request({}, 'gone')).release();
  await clock.advance(65_000);
  t.equal(admission.gates(), 1);
  runner.release();
  t.match(waiter.outcome, { kind: 'admitted', waited: 65_000 });
});

t.test('a thousand waiters that end at once do not overflow the stack', async (t) => {
  const admission = createLocalAdmission({ clock: new VirtualClock() });
  t.teardown(() => admission.close());
  const asked = request({ requests_per_minute: 5000 });
  const first = new Client(admission, asked);
  const order: number[] = [];
  const depths = new Set<number>();
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  t.teardown(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  for (let index = 0; index < 1000; index++)
    emitted(admission.admit(asked)).subscribe((lease) => {
      order.push(index);
      depths.add(new Error('here').stack?.split('\n').length ?? 0);
      lease.release();
    });
  first.release();
  t.strictSame(order, [...order.keys()]);
  t.equal(order.length, 1000);
  t.equal(depths.size, 1, 'all on the same level');
  t.match(admission.stats(), { running: 0, waiting: 0, admitted: 1001, waited: 1000 });
});

t.test('changes of the wall clock have no effect', async (t) => {
  const admission = createLocalAdmission();
  t.teardown(() => admission.close());
  const asked = request({ concurrency: 5, requests_per_minute: 1 });
  t.equal(await new Client(admission, asked).result(), 'admitted');
  const day = 86_400_000;
  for (const step of [day, -day]) {
    const now = Date.now;
    t.intercept(Date, 'now', { value: () => now() + step });
    t.match(await new Client(admission, asked).settled(), { status: 429, retryAfter: 60 });
  }
});

t.test('the rate window equals a plain list, however many requests start', async () => {
  const step = fc.record({ pass: fc.nat(30), starts: fc.nat(40), limit: fc.integer({ min: 1, max: 120 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const window = new StartWindow(100);
      let list: number[] = [];
      let now = 0;
      for (const { pass, starts, limit } of steps) {
        now += pass;
        for (let count = 0; count < starts; count++) {
          window.add(now);
          list.push(now);
        }
        list = list.filter((start) => start > now - 100);
        assert.equal(window.count(now), list.length);
        const wait = list.length < limit ? 0 : (list[list.length - limit] ?? 0) + 100 - now;
        assert.equal(window.waitFor(limit, now), wait);
      }
    }),
  );
});
