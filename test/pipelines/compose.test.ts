/** `compose` against RxJS's `pipe`: random stages, sources and readers behave the same either way. */
import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { pino } from 'pino';
import { Observable, type Observer, type OperatorFunction, of, type Subscription } from 'rxjs';
import t from 'tap';
import { type AnyStage, compose } from '../../pipelines/core/compose.ts';
import { lift, type PartObserver, type RequestContext, transform } from '../../pipelines/core/stage.ts';
import { orLong } from '../long.ts';

/** A clock of ticks: everything asynchronous is a callback at a later tick, in the order it was asked for. */
class Clock {
  readonly #due: { at: number; run: () => void }[] = [];
  now = 0;

  after(ticks: number, run: () => void): () => void {
    const timer = { at: this.now + ticks, run };
    this.#due.push(timer);
    return () => {
      const index = this.#due.indexOf(timer);
      if (index >= 0) this.#due.splice(index, 1);
    };
  }

  runAll(): void {
    for (let guard = 0; guard < 10_000; guard++) {
      const next = this.#due.reduce<{ at: number; run: () => void } | undefined>(
        (first, each) => (first === undefined || each.at < first.at ? each : first),
        undefined,
      );
      if (next === undefined) return;
      this.#due.splice(this.#due.indexOf(next), 1);
      this.now = next.at;
      next.run();
    }
    throw new Error('the clock never stops');
  }
}

interface Script {
  /** Ticks before each value; 0: in the same call as the one before. */
  readonly values: readonly { readonly after: number; readonly value: number }[];
  readonly end: 'complete' | 'error' | 'never';
}

interface StepPlan {
  readonly kind: 'step';
  readonly does: 'value' | 'throws' | 'later';
  readonly script: Script;
}

interface TransformPlan {
  readonly kind: 'transform';
  /** On which call of `next` it throws; -1: never. */
  readonly throwsAt: number;
  readonly throwsIn: 'open' | 'complete' | 'error' | 'teardown' | 'nowhere';
  /** What becomes of a part: dropped, passed on, or doubled. */
  readonly copies: 0 | 1 | 2;
  /** After so many parts it ends the response by itself; -1: never. */
  readonly endsAt: number;
  readonly ends: 'complete' | 'error';
  /** It waits before it passes completion on, as what keeps a usage event does. */
  readonly holdsEnd: number;
  /** It turns an error into a last part, as framing does. */
  readonly recovers: boolean;
}

type Plan = StepPlan | TransformPlan;

interface Reader {
  /** After so many values the reader unsubscribes inside `next`; -1: never. */
  readonly leavesAfter: number;
  /** At this tick it unsubscribes; 0: never. */
  readonly leavesAt: number;
  /** Inside `next` of this value it makes the source that was subscribed to last emit once more; -1: never. */
  readonly pokesAfter: number;
}

/** What can be seen of a run from outside, beside what the reader gets. */
interface Stagehand {
  readonly clock: Clock;
  readonly lifecycle: string[];
  /** Makes the source that was subscribed to last emit. */
  poke: (value: number) => void;
}

/** A source that logs when it is subscribed to and torn down. */
const scripted = (hand: Stagehand, name: string, { values, end }: Script): Observable<number> =>
  new Observable((subscriber) => {
    const { clock, lifecycle: log } = hand;
    hand.poke = (value) => subscriber.next(value);
    log.push(`${clock.now}: ${name} subscribed`);
    let cancel: (() => void) | undefined;
    const from = (index: number): void => {
      for (let at = index; ; at++) {
        const next = values[at];
        if (next === undefined) {
          if (end === 'complete') subscriber.complete();
          else if (end === 'error') subscriber.error(new Error(`${name} failed`));
          return;
        }
        if (next.after > 0 && at !== index) {
          cancel = clock.after(next.after, () => from(at));
          return;
        }
        subscriber.next(next.value);
      }
    };
    const [first] = values;
    if (first !== undefined && first.after > 0) cancel = clock.after(first.after, () => from(0));
    else from(0);
    return () => {
      cancel?.();
      log.push(`${clock.now}: ${name} torn down`);
    };
  });

const stageOf = (plan: Plan, index: number, hand: Stagehand): AnyStage =>
  plan.kind === 'step'
    ? (value: number) => {
        if (plan.does === 'throws') throw new Error(`step ${index} threw`);
        if (plan.does === 'value') return value * 10 + index;
        return scripted(hand, `step ${index} of ${value}`, plan.script);
      }
    : transform<number, number>((next) => {
        if (plan.throwsIn === 'open') throw new Error(`transform ${index} did not open`);
        return transformed(next, plan, index, hand);
      });

const transformed = (
  next: Observer<number>,
  plan: TransformPlan,
  index: number,
  { clock, lifecycle: log }: Stagehand,
): PartObserver<number> => {
  let seen = 0;
  let over = false;
  const finish = (): void => {
    over = true;
    if (plan.throwsIn === 'complete') throw new Error(`transform ${index} threw at its end`);
    if (plan.holdsEnd > 0) clock.after(plan.holdsEnd, () => next.complete());
    else next.complete();
  };
  return {
    next: (value) => {
      if (over) return;
      seen++;
      if (seen - 1 === plan.throwsAt) throw new Error(`transform ${index} threw`);
      for (let copy = 0; copy < plan.copies; copy++) next.next(value * 10 + index);
      if (seen - 1 !== plan.endsAt) return;
      over = true;
      if (plan.ends === 'complete') next.complete();
      else next.error(new Error(`transform ${index} ended it`));
    },
    error: (error) => {
      if (plan.throwsIn === 'error') throw new Error(`transform ${index} threw at an error`);
      if (!plan.recovers) next.error(error);
      else {
        next.next(-1);
        next.complete();
      }
    },
    complete: finish,
    onTeardown: () => {
      log.push(`${clock.now}: transform ${index} torn down`);
      if (plan.throwsIn === 'teardown') throw new Error(`transform ${index} threw in its teardown`);
    },
  };
};

type Way = (stages: readonly AnyStage[], context: RequestContext) => Observable<unknown>;

const fused: Way = (stages, context) =>
  (
    compose as (
      ...stages: readonly AnyStage[]
    ) => (value: unknown, context: RequestContext) => Observable<unknown>
  )(...stages)(1, context);

const piped: Way = (stages, context) =>
  stages.reduce<Observable<unknown>>(
    (source, stage) => source.pipe(lift(stage, context) as OperatorFunction<unknown, unknown>),
    of(1),
  );

/**
 * Everything that can be seen from outside: what the reader gets, when and in which order; what is subscribed to and torn
 * down, and when (within a tick in any order); the failure that a usage event will report.
 */
const observed = (way: Way, plans: readonly Plan[], reader: Reader) => {
  const received: string[] = [];
  const lifecycle: string[] = [];
  const clock = new Clock();
  const hand: Stagehand = { clock, lifecycle, poke: () => undefined };
  const context: RequestContext = { exchange: { log: pino({ level: 'silent' }), failure: undefined } };
  const stages = plans.map((plan, index) => stageOf(plan, index, hand));
  let subscription: Subscription | undefined;
  let values = 0;
  const at = (what: string): void => void received.push(`${clock.now}: ${what}`);
  const leave = (): void => {
    at('left');
    subscription?.unsubscribe();
  };
  const source = way(stages, context);
  subscription = source.subscribe({
    next: (value) => {
      at(`value ${value}`);
      values++;
      if (values === reader.pokesAfter) hand.poke(7);
      if (values === reader.leavesAfter && subscription !== undefined) leave();
    },
    error: (error) => at(`error ${error instanceof Error ? error.message : String(error)}`),
    complete: () => at('complete'),
  });
  if (reader.leavesAt > 0) clock.after(reader.leavesAt, leave);
  clock.runAll();
  subscription.unsubscribe();
  return { received, lifecycle: lifecycle.sort(), failure: String(context.exchange.failure) };
};

const script: fc.Arbitrary<Script> = fc.record({
  values: fc.array(
    fc.record({ after: fc.integer({ min: 0, max: 3 }), value: fc.integer({ min: 0, max: 9 }) }),
    {
      maxLength: 5,
    },
  ),
  end: fc.constantFrom('complete', 'complete', 'error', 'never'),
});

const step: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constant('step' as const),
  does: fc.constantFrom('value', 'value', 'later', 'later', 'throws'),
  script,
});

const rarely = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(-1) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: most }) },
  );

const transforms: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constant('transform' as const),
  throwsAt: rarely(3),
  throwsIn: fc.constantFrom('nowhere', 'nowhere', 'nowhere', 'open', 'complete', 'error', 'teardown'),
  copies: fc.constantFrom(0, 1, 1, 2),
  endsAt: rarely(3),
  ends: fc.constantFrom('complete', 'error'),
  holdsEnd: fc.integer({ min: 0, max: 2 }),
  recovers: fc.boolean(),
});

const reader: fc.Arbitrary<Reader> = fc.record({
  leavesAfter: rarely(4),
  leavesAt: fc.integer({ min: 0, max: 8 }),
  pokesAfter: rarely(4),
});

/** Its reader makes the source emit once more, and the transform throws at that: an error from within `next`. */
const failsInsideNext: [Plan[], Reader] = [
  [
    { kind: 'step', does: 'later', script: { values: [{ after: 0, value: 0 }], end: 'complete' } },
    {
      kind: 'transform',
      throwsAt: 1,
      throwsIn: 'nowhere',
      copies: 2,
      endsAt: -1,
      ends: 'complete',
      holdsEnd: 0,
      recovers: false,
    },
    { kind: 'step', does: 'value', script: { values: [], end: 'complete' } },
  ],
  { leavesAfter: -1, leavesAt: 0, pokesAfter: 1 },
];

t.test('fused and piped stages cannot be told apart', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(step, transforms), { minLength: 1, maxLength: 6 }),
      reader,
      (plans, reader) => {
        deepStrictEqual(observed(fused, plans, reader), observed(piped, plans, reader));
      },
    ),
    { numRuns: orLong(500, 2000), examples: [failsInsideNext] },
  );
});
