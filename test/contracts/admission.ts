/** What every Admission adapter must do. `open` gives replicas that share one set of gates, and the time they live in. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { firstValueFrom, Observable } from 'rxjs';
import type { Test } from 'tap';
import type { Rules } from '../../src/adapters/admission/rules.ts';
import type { Admission, AdmissionRequest, Limits } from '../../src/ports/admission.ts';
import type { VirtualClock } from '../admission/virtual-clock.ts';
import { request, Visitor } from '../admission/visitor.ts';
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
  /** A fresh house: visitors alternate between its replicas. */
  const house = async (t: Test, rules?: Partial<Rules>) => {
    const { replicas, clock, close } = await open(rules);
    t.teardown(close);
    let count = 0;
    /** All that was asked so far has been decided. */
    const settle = async (): Promise<void> => {
      for (const replica of replicas) await replica.check();
    };
    const visit = (asked: AdmissionRequest = request()) =>
      new Visitor(replicas[count++ % 2 === 0 ? 0 : 1], asked);
    /** One after another, each decided or in line before the next asks. */
    const visitAll = async (number: number, asked: AdmissionRequest = request()) => {
      const visitors: Visitor[] = [];
      for (let index = 0; index < number; index++) {
        visitors.push(visit(asked));
        await settle();
      }
      return visitors;
    };
    const words = (visitors: readonly Visitor[]) => Promise.all(visitors.map((each) => each.word()));
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
      visit,
      visitAll,
      words,
      stats,
      pass: (ms: number) => clock.advance(ms, settle),
    };
  };

  t.test('nobody is in line before subscribing', async (t) => {
    const { replicas, visit, settle } = await house(t);
    const first = visit();
    t.strictSame(await first.settled(), { kind: 'admitted', waited: 0 });
    const unused = replicas[0].admit(request());
    assert(unused instanceof Observable, 'there is no room for a second one');
    await settle();
    const second = visit();
    await settle();
    first.release();
    t.strictSame(await second.settled(), { kind: 'admitted', waited: 0, position: 1 });
    second.release();
    await settle();
    t.strictSame(await firstValueFrom(unused).then(({ waited }) => waited), 0, 'it asks again then');
  });

  t.test('first come, first served; leaving the line costs nobody anything', async (t) => {
    const { visitAll, pass, settle, stats } = await house(t);
    const [first, second, third, fourth] = await visitAll(4);
    assert(first && second && third && fourth);
    t.match(stats(), { running: 1, waiting: 3 });
    third.leave();
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

  t.test('subscriptions and models are apart, whatever they are called', async (t) => {
    const { visit, words } = await house(t);
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
    const visitors = names.map(([subscription, model]) => visit(request({}, subscription, model)));
    t.strictSame(await words(visitors), Array(names.length).fill('admitted'));
  });

  t.test('a burst at the edge of the window', async (t) => {
    const { visitAll, words, pass } = await house(t);
    const asked = request({ concurrency: 10, requests_per_minute: 3 });
    t.strictSame(await words(await visitAll(4, asked)), ['admitted', 'admitted', 'admitted', '429 60']);
    await pass(minute - 1);
    t.strictSame(await words(await visitAll(2, asked)), ['429 1', '429 1'], 'a millisecond early');
    await pass(1);
    t.strictSame(await words(await visitAll(4, asked)), ['admitted', 'admitted', 'admitted', '429 60']);
  });

  t.test('Retry-After is the truth: come then, and be admitted', async (t) => {
    const { visit, visitAll, words, pass } = await house(t);
    const asked = request({ concurrency: 10, requests_per_minute: 2 });
    t.strictSame(await words(await visitAll(1, asked)), ['admitted']);
    await pass(10_250);
    t.strictSame(await words(await visitAll(2, asked)), ['admitted', '429 50']);
    await pass(49_000);
    t.equal(await visit(asked).word(), '429 1', 'not before');
    await pass(1000);
    t.equal(await visit(asked).word(), 'admitted');
  });

  t.test('one whose turn comes while the window is full is refused, and all behind it', async (t) => {
    const { visitAll, words, pass } = await house(t, { queueMs: 2 * minute });
    const [first, second, third] = await visitAll(3, request({ requests_per_minute: 5 }));
    assert(first && second && third);
    first.release();
    await second.settled();
    const late = await visitAll(1, request({ requests_per_minute: 2 }));
    await pass(20_000);
    second.release();
    t.strictSame(await words([third, ...late]), ['429 40', '429 40']);
  });

  t.test('one that cannot start in the time it may wait is told at once', async (t) => {
    const { visitAll, words, pass, stats } = await house(t);
    const asked = request({ requests_per_minute: 3 });
    const [first, second] = await visitAll(2, asked);
    assert(first && second);
    first.release();
    await second.settled();
    const more = await visitAll(2, asked);
    t.strictSame(await words(more.slice(1)), ['429 60'], 'two have started, one is ahead');
    t.match(stats(), { waiting: 1 });
    await pass(29_999);
    t.equal(more[0]?.outcome, undefined);
  });

  t.test('the line is bounded in length and time, and the estimate follows the holds', async (t) => {
    const { visit, visitAll, words, pass, stats } = await house(t, { queueLength: 2 });
    const [first] = await visitAll(1);
    await pass(4000);
    first?.release();
    const [second, third, fourth] = await visitAll(3);
    assert(second && third && fourth);
    t.equal(await visit().word(), '429 12', 'three times the four seconds that a slot was held');
    await pass(29_999);
    t.equal(third.outcome, undefined);
    await pass(1);
    t.strictSame(await words([third, fourth]), ['429 60', '429 30'], 'one was still ahead, then none');
    t.match(stats(), { running: 1, waiting: 0, refusedByQueue: 3 });
    second.release();
    t.equal(await visit().word(), 'admitted');
  });

  t.test('all lines of a process together are bounded', async (t) => {
    const { replicas, settle } = await house(t, { waiting: 2 });
    const visitors = ['a', 'a', 'b', 'b', 'c', 'c'].map(
      (name) => new Visitor(replicas[0], request({}, name)),
    );
    t.match(await visitors[5]?.settled(), { kind: 'refused', status: 429, retryAfter: 1 });
    await settle();
    t.match(replicas[0].stats(), { running: 3, waiting: 2, refusedByQueue: 1 });
    visitors[1]?.leave();
    await settle();
    const next = new Visitor(replicas[0], request({}, 'c'));
    await settle();
    t.equal(next.outcome, undefined);
    visitors[4]?.release();
    t.match(await next.settled(), { kind: 'admitted', position: 1 });
  });

  t.test('numbers that change hold for all from the next request on', async (t) => {
    const { visit, visitAll, words, settle, stats } = await house(t);
    const [first, second, third] = await visitAll(3);
    assert(first && second && third);
    const raised = visit(request({ concurrency: 3 }));
    t.strictSame(await words([second, third]), ['admitted', 'admitted'], 'those who waited come first');
    t.equal(raised.outcome, undefined);
    const lowered = visit(request({ concurrency: 2 }));
    await settle();
    first.release();
    await settle();
    t.match(stats(), { running: 2, waiting: 2 }, 'nobody starts above the new number');
    second.release();
    t.equal(await raised.word(), 'admitted');
    t.equal(lowered.outcome, undefined);
    t.equal(
      await visit(request({ concurrency: 2, requests_per_minute: 4 })).word(),
      '429 60',
      'fewer a minute',
    );
  });

  t.test('what is released again and again frees one slot', async (t) => {
    const { visitAll, settle, stats } = await house(t);
    const visitors = await visitAll(4, request({ concurrency: 2 }));
    for (let times = 0; times < 5; times++) visitors[0]?.release();
    await visitors[2]?.settled();
    await settle();
    t.equal(visitors[3]?.outcome, undefined);
    t.match(stats(), { running: 2, waiting: 1 });
  });

  t.test('a slot is released with the tokens it was used for, and they count once', async (t) => {
    const { visitAll, settle, stats } = await house(t);
    const [first, second, third] = await visitAll(3, request({ concurrency: 3 }));
    t.match(stats(), { promptTokens: 0, completionTokens: 0 });
    first?.release({ prompt: 7, completion: 30 });
    first?.release({ prompt: 7, completion: 30 });
    second?.release();
    second?.release({ prompt: 1000, completion: 1000 });
    third?.release({ prompt: 5, completion: 0 });
    await settle();
    t.match(stats(), { running: 0, promptTokens: 12, completionTokens: 30 });
  });

  t.test('leaving at the very moment one is admitted leaves nothing behind', async (t) => {
    const { visitAll, visit, settle } = await house(t);
    const [first, second] = await visitAll(2);
    assert(first && second);
    first.release();
    second.leave();
    await settle();
    // Where answers take their way, it may have been admitted before it left, and then holds the slot.
    second.lease?.release();
    const third = visit();
    t.equal(await third.word(), 'admitted');
    const gone = visit();
    gone.leave();
    await settle();
    third.release();
    t.equal(await visit().word(), 'admitted');
  });

  t.test('any history is that of a simple model', async (t) => {
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
  | { readonly do: 'release' | 'leave'; readonly which: number }
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
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave'), which: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass'),
      ms: fc.constantFrom(1, 250, 999, 1000, 7500, 29_999, 30_000, 59_999, minute),
    }),
  },
);

/** Runs a history in the house and in the model, comparing after each step all that became of anybody. */
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
  const visitors = new Map<string, Visitor>();
  const settle = async (): Promise<void> => {
    for (const replica of replicas) await replica.check();
  };

  const perform = async (each: Step, name: string): Promise<void> => {
    switch (each.do) {
      case 'arrive': {
        const visitor = new Visitor(replicas[each.replica], request(each.limits, subscription), (outcome) => {
          actual[name] =
            outcome.kind === 'admitted'
              ? `admitted after ${outcome.waited}`
              : `refused for ${outcome.retryAfter}`;
        });
        visitors.set(name, visitor);
        return model.arrive(name, each.limits, clock.now());
      }
      case 'release': {
        const runner = model.running[each.which];
        if (runner === undefined) return;
        visitors.get(runner)?.release();
        return model.release(runner, clock.now());
      }
      case 'leave': {
        const waiter = model.waiting[each.which];
        if (waiter === undefined) return;
        visitors.get(waiter)?.leave();
        return model.leave(waiter);
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
  for (const visitor of visitors.values()) {
    visitor.leave();
    visitor.lease?.release();
  }
  await settle();
};

/** Messages take their way; what does not come within a second does not come. */
const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 1000;
  while (!condition() && performance.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
};
