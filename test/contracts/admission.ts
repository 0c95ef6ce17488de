/** The contract suite of Admission adapters. `open` returns replicas that share gates and a clock. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { firstValueFrom, Observable } from 'rxjs';
import type { Test } from 'tap';
import type { Rules } from '../../src/adapters/admission/rules.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import type { Admission, AdmissionRequest, Limits } from '../../src/ports/admission.ts';
import { Client, request } from '../admission/client.ts';
import type { VirtualClock } from '../admission/virtual-clock.ts';
import { ModelGate, type ModelRules } from './admission-model.ts';

export interface AdmissionSubject {
  /** Two of them, or twice the same. */
  readonly replicas: readonly [Admission, Admission];
  readonly clock: VirtualClock;
  close(): Promise<void>;
}

export type OpenAdmission = (rules?: Partial<Rules>) => Promise<AdmissionSubject>;

const minute = 60_000;

export const admissionContract = async (t: Test, open: OpenAdmission, runs = 100): Promise<void> => {
  /** A fresh harness: clients alternate between its replicas. */
  const harness = async (t: Test, rules?: Partial<Rules>) => {
    const { replicas, clock, close } = await open(rules);
    t.teardown(close);
    let count = 0;
    /** All that was asked so far has been decided. */
    const settle = async (): Promise<void> => {
      for (const replica of replicas) await replica.check();
    };
    const send = (asked: AdmissionRequest = request()) =>
      new Client(replicas[count++ % 2 === 0 ? 0 : 1], asked);
    /** One after another, each decided or in line before the next asks. */
    const sendAll = async (number: number, asked: AdmissionRequest = request()) => {
      const clients: Client[] = [];
      for (let index = 0; index < number; index++) {
        clients.push(send(asked));
        await settle();
      }
      return clients;
    };
    const results = (clients: readonly Client[]) => Promise.all(clients.map((each) => each.result()));
    const stats = () => {
      const [one, other] = replicas.map((replica) => replica.stats());
      return one === undefined || other === undefined || replicas[0] === replicas[1]
        ? one
        : {
            running: one.running + other.running,
            waiting: one.waiting + other.waiting,
            admitted: one.admitted + other.admitted,
            waited: one.waited + other.waited,
            waitedMs: one.waitedMs + other.waitedMs,
            refusedByRate: one.refusedByRate + other.refusedByRate,
            refusedByQueue: one.refusedByQueue + other.refusedByQueue,
            promptTokens: one.promptTokens + other.promptTokens,
            completionTokens: one.completionTokens + other.completionTokens,
          };
    };
    return {
      replicas,
      clock,
      settle,
      send,
      sendAll,
      results,
      stats,
      pass: (ms: number) => clock.advance(ms, settle),
    };
  };

  t.test('nothing is queued before subscribing', async (t) => {
    const { replicas, send, settle } = await harness(t);
    const first = send();
    t.strictSame(await first.settled(), { kind: 'admitted', waited: 0 });
    const unused = replicas[0].admit(request());
    assert(unused instanceof Observable, 'there is no room for a second one');
    await settle();
    const second = send();
    await settle();
    first.release();
    t.strictSame(await second.settled(), { kind: 'admitted', waited: 0, position: 1 });
    second.release();
    await settle();
    t.strictSame(await firstValueFrom(unused).then(({ waited }) => waited), 0, 'it asks again then');
  });

  t.test('the queue is FIFO; leaving it delays nobody', async (t) => {
    const { sendAll, pass, settle, stats } = await harness(t);
    const [first, second, third, fourth] = await sendAll(4);
    assert(first && second && third && fourth);
    t.match(stats(), { running: 1, waiting: 3 });
    third.disconnect();
    await settle();
    t.match(stats(), { running: 1, waiting: 2 });
    await pass(1500);
    first.release();
    first.release();
    t.strictSame(await second.settled(), { kind: 'admitted', waited: 1500, position: 1 });
    await pass(500);
    t.equal(fourth.outcome, undefined);
    second.release();
    t.strictSame(await fourth.settled(), { kind: 'admitted', waited: 2000, position: 3 });
    fourth.release();
    t.equal(third.outcome, undefined);
    await settle();
    t.match(stats(), { running: 0, waiting: 0, admitted: 3, waited: 2, waitedMs: 3500, refusedByRate: 0 });
  });

  t.test('subscriptions and models are isolated, whatever their names', async (t) => {
    const { send, results } = await harness(t);
    const names = [
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'b'],
      ['a:', 'b'],
      ['a', ':b'],
      ['a}', '{b'],
      ['a\n', 'b'],
      ['ü', '模型'],
    ] as const;
    const clients = names.map(([subscription, model]) => send(request({}, subscription, model)));
    t.strictSame(await results(clients), Array(names.length).fill('admitted'));
  });

  t.test('a burst at the edge of the window', async (t) => {
    const { sendAll, results, pass } = await harness(t);
    const asked = request({ concurrency: 10, requests_per_minute: 3 });
    t.strictSame(await results(await sendAll(4, asked)), ['admitted', 'admitted', 'admitted', '429 60']);
    await pass(minute - 1);
    t.strictSame(await results(await sendAll(2, asked)), ['429 1', '429 1'], 'a millisecond early');
    await pass(1);
    t.strictSame(await results(await sendAll(4, asked)), ['admitted', 'admitted', 'admitted', '429 60']);
  });

  t.test('a request that waits for Retry-After is admitted', async (t) => {
    const { send, sendAll, results, pass } = await harness(t);
    const asked = request({ concurrency: 10, requests_per_minute: 2 });
    t.strictSame(await results(await sendAll(1, asked)), ['admitted']);
    await pass(10_250);
    t.strictSame(await results(await sendAll(2, asked)), ['admitted', '429 50']);
    await pass(49_000);
    t.equal(await send(asked).result(), '429 1', 'not before');
    await pass(1000);
    t.equal(await send(asked).result(), 'admitted');
  });

  t.test('a waiter that is next while the window is full is refused, and all behind it', async (t) => {
    const { sendAll, results, pass } = await harness(t, { queueMs: 2 * minute });
    const [first, second, third] = await sendAll(3, request({ requests_per_minute: 5 }));
    assert(first && second && third);
    first.release();
    await second.settled();
    const late = await sendAll(1, request({ requests_per_minute: 2 }));
    await pass(20_000);
    second.release();
    t.strictSame(await results([third, ...late]), ['429 40', '429 40']);
  });

  t.test('a request that cannot start within the queue time is refused at once', async (t) => {
    const { sendAll, results, pass, stats } = await harness(t);
    const asked = request({ requests_per_minute: 3 });
    const [first, second] = await sendAll(2, asked);
    assert(first && second);
    first.release();
    await second.settled();
    const more = await sendAll(2, asked);
    t.strictSame(await results(more.slice(1)), ['429 60'], 'two have started, one is ahead');
    t.match(stats(), { waiting: 1 });
    await pass(29_999);
    t.equal(more[0]?.outcome, undefined);
  });

  t.test('the queue is bounded in length and time, and the estimate follows the hold times', async (t) => {
    const { send, sendAll, results, pass, stats } = await harness(t, { queueLength: 2 });
    const [first] = await sendAll(1);
    await pass(4000);
    first?.release();
    const [second, third, fourth] = await sendAll(3);
    assert(second && third && fourth);
    t.equal(await send().result(), '429 12', 'three times the four seconds that a slot was held');
    await pass(29_999);
    t.equal(third.outcome, undefined);
    await pass(1);
    t.strictSame(await results([third, fourth]), ['429 60', '429 30'], 'one was still ahead, then none');
    t.match(stats(), { running: 1, waiting: 0, refusedByQueue: 3 });
    second.release();
    t.equal(await send().result(), 'admitted');
  });

  t.test('all queues of a process together are bounded', async (t) => {
    const { replicas, settle } = await harness(t, { waiting: 2 });
    const clients: Client[] = [];
    // In order: replies of several servers may overtake each other.
    for (const name of ['a', 'a', 'b', 'b', 'c', 'c']) {
      clients.push(new Client(replicas[0], request({}, name)));
      await settle();
    }
    t.match(await clients[5]?.settled(), { kind: 'refused', status: 429, retryAfter: 1 });
    await settle();
    t.match(replicas[0].stats(), { running: 3, waiting: 2, refusedByQueue: 1 });
    clients[1]?.disconnect();
    await settle();
    const next = new Client(replicas[0], request({}, 'c'));
    await settle();
    t.equal(next.outcome, undefined);
    clients[4]?.release();
    t.match(await next.settled(), { kind: 'admitted', position: 1 });
  });

  t.test('changed limits apply to all from the next request on', async (t) => {
    const { send, sendAll, results, settle, stats } = await harness(t);
    const [first, second, third] = await sendAll(3);
    assert(first && second && third);
    const raised = send(request({ concurrency: 3 }));
    t.strictSame(await results([second, third]), ['admitted', 'admitted'], 'those who waited come first');
    t.equal(raised.outcome, undefined);
    const lowered = send(request({ concurrency: 2 }));
    await settle();
    first.release();
    await settle();
    t.match(stats(), { running: 2, waiting: 2 }, 'nobody starts above the new number');
    second.release();
    t.equal(await raised.result(), 'admitted');
    t.equal(lowered.outcome, undefined);
    t.equal(
      await send(request({ concurrency: 2, requests_per_minute: 4 })).result(),
      '429 60',
      'fewer a minute',
    );
  });

  t.test('a lease says how full the window was when it started, and a refusal that it is full', async (t) => {
    const { replicas, clock, pass } = await harness(t);
    const asked = request({ concurrency: 5, requests_per_minute: 2 });
    const start = (at: 0 | 1) => firstValueFrom(emitted(replicas[at].admit(asked)));
    const first = await start(0);
    t.strictSame(first.window, { limit: 2, remaining: 1, resetAt: clock.now() + minute });
    await pass(1000);
    const second = await start(1);
    t.strictSame(second.window, { limit: 2, remaining: 0, resetAt: clock.now() + minute });
    const refused = await start(0).catch((error: unknown) => error as { window: unknown });
    t.match(refused.window, { limit: 2, remaining: 0 });
    await pass(minute - 1000);
    t.match((await start(0)).window, { limit: 2, remaining: 0 }, 'the first has left, the second has not');
  });

  t.test('releasing a lease several times frees one slot', async (t) => {
    const { sendAll, settle, stats } = await harness(t);
    const clients = await sendAll(4, request({ concurrency: 2 }));
    for (let times = 0; times < 5; times++) clients[0]?.release();
    await clients[2]?.settled();
    await settle();
    t.equal(clients[3]?.outcome, undefined);
    t.match(stats(), { running: 2, waiting: 1 });
  });

  t.test('a slot is released with the tokens it used, and they count once', async (t) => {
    const { sendAll, settle, stats } = await harness(t);
    const [first, second, third] = await sendAll(3, request({ concurrency: 3 }));
    t.match(stats(), { promptTokens: 0, completionTokens: 0 });
    first?.release({ prompt: 7, completion: 30 });
    first?.release({ prompt: 7, completion: 30 });
    second?.release();
    second?.release({ prompt: 1000, completion: 1000 });
    third?.release({ prompt: 5, completion: 0 });
    await settle();
    t.match(stats(), { running: 0, promptTokens: 12, completionTokens: 30 });
  });

  t.test('a disconnect at the moment of admission leaves nothing behind', async (t) => {
    const { sendAll, send, settle } = await harness(t);
    const [first, second] = await sendAll(2);
    assert(first && second);
    first.release();
    second.disconnect();
    await settle();
    // Where answers take their way, it may have been admitted before it left, and then holds the slot.
    second.lease?.release();
    const third = send();
    t.equal(await third.result(), 'admitted');
    const gone = send();
    gone.disconnect();
    await settle();
    third.release();
    t.equal(await send().result(), 'admitted');
  });

  t.test('any history agrees with the model', async (t) => {
    const rules = { windowMs: minute, queueLength: 4, queueMs: 30_000 };
    const { replicas, clock, close } = await open(rules);
    t.teardown(close);
    let histories = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), (steps) =>
      replay(steps, replicas, clock, rules, `sub_${++histories}`),
    );
    await fc.assert(property, { numRuns: runs });
  });
};

type Step =
  | { readonly do: 'arrive'; readonly replica: 0 | 1; readonly limits: Limits }
  | { readonly do: 'release' | 'disconnect'; readonly which: number }
  | { readonly do: 'pass'; readonly ms: number };

const limits: fc.Arbitrary<Limits> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ concurrency: 2, requests_per_minute: 5 }) },
  fc.constantFrom(
    { concurrency: 1, requests_per_minute: 5 },
    { concurrency: 4, requests_per_minute: 5 },
    { concurrency: 2, requests_per_minute: 3 },
    { concurrency: 2, requests_per_minute: 8 },
  ),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('arrive'), replica: fc.constantFrom(0, 1), limits }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release'), which: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect'), which: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass'),
      ms: fc.constantFrom(1, 250, 999, 1000, 7500, 29_999, 30_000, 59_999, minute),
    }),
  },
);

/** Runs a history against the adapter and the model, comparing all outcomes after each step. */
const replay = async (
  steps: readonly Step[],
  replicas: readonly [Admission, Admission],
  clock: VirtualClock,
  rules: ModelRules,
  subscription: string,
): Promise<void> => {
  const expected: Record<string, string> = {};
  const actual: Record<string, string> = {};
  const model = new ModelGate(rules, (name, outcome) => {
    expected[name] = outcome;
  });
  const clients = new Map<string, Client>();
  const settle = async (): Promise<void> => {
    for (const replica of replicas) await replica.check();
  };

  const perform = async (each: Step, name: string): Promise<void> => {
    switch (each.do) {
      case 'arrive': {
        const client = new Client(replicas[each.replica], request(each.limits, subscription), (outcome) => {
          actual[name] =
            outcome.kind === 'admitted'
              ? `admitted after ${outcome.waited}`
              : `refused for ${outcome.retryAfter}`;
        });
        clients.set(name, client);
        return model.arrive(name, each.limits, clock.now());
      }
      case 'release': {
        const runner = model.running[each.which];
        if (runner === undefined) return;
        clients.get(runner)?.release();
        return model.release(runner, clock.now());
      }
      case 'disconnect': {
        const waiter = model.waiting[each.which];
        if (waiter === undefined) return;
        clients.get(waiter)?.disconnect();
        return model.disconnect(waiter);
      }
      case 'pass': {
        const target = clock.now() + each.ms;
        while (model.deadline <= target) {
          const { deadline } = model;
          await clock.advance(deadline - clock.now() - 1, settle);
          while (model.deadline === deadline) model.expire(deadline);
          await clock.advance(1, settle);
        }
        return clock.advance(target - clock.now(), settle);
      }
    }
  };

  for (const [index, each] of steps.entries()) {
    await perform(each, `r${index}`);
    await settle();
    await until(() => Object.keys(actual).length >= Object.keys(expected).length);
    assert.deepEqual(actual, expected, `after step ${index}: ${JSON.stringify(each)}`);
  }
  for (const client of clients.values()) {
    client.disconnect();
    client.lease?.release();
  }
  await settle();
};

/** Messages take their way; what does not come within a second does not come. */
const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 1000;
  while (!condition() && performance.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
};
