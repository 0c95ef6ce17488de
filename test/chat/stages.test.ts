/** Marble tests of the chat stages: values, timing and subscriptions. */
import { concatMap, defer, lastValueFrom, NEVER, Observable, of, pipe, tap, throwError } from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import t, { type Test } from 'tap';
import type { ChatTask } from '../../pipelines/conversation/chat-task.ts';
import { countTokens } from '../../pipelines/conversation/count-tokens.ts';
import { type SettledParts, settle } from '../../pipelines/conversation/settle.ts';
import { admit } from '../../pipelines/core/admit.ts';
import { callEngine } from '../../pipelines/core/call-engine.ts';
import { compose } from '../../pipelines/core/compose.ts';
import { record } from '../../pipelines/core/meter.ts';
import { resolveModel } from '../../pipelines/core/resolve-model.ts';
import { lift, transform } from '../../pipelines/core/stage.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { type ApiError, fail } from '../../src/errors.ts';
import type { Lease } from '../../src/ports/admission.ts';
import type { Parts } from '../../src/ports/engines/chat.ts';
import type { Exchange, KeyedRequest, Reply } from '../../src/ports/exchange.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { plainCall } from '../samples.ts';
import {
  admitted,
  caller,
  exchange,
  finish,
  harness,
  lease,
  model,
  models,
  run,
  text,
  thought,
  usage,
} from './fixtures.ts';

const marbles = (t: Test, run: (helpers: RunHelpers, now: () => number) => void): void => {
  const scheduler = new TestScheduler((actual, expected) => t.strictSame(actual, expected));
  scheduler.run((helpers) => run(helpers, () => scheduler.now()));
};

const broken = fail('timeout', 'The model timed out');
const early = fail('engine_unreachable', 'The model ended its answer early');
const full = fail('unavailable', 'The journal is full');
const values: Record<string, Parts> = {
  a: [text('Hello there ')],
  b: [text('world')],
  f: [finish()],
  u: [usage(10, 4)],
  w: [text('!'), finish(), usage(10, 4)],
  v: [text('!'), finish()],
  x: [{ type: 'failure', error: broken }],
  y: [text('!'), { type: 'failure', error: broken }],
  n: [text('!')],
  e: [{ type: 'failure', error: early }],
  g: [{ type: 'failure', error: full }],
  // what meter counts itself: 7 of the prompt's frame and 1 of its text, then 3 and 1 pieces
  o: [usage(8, 4)],
};

t.test('compose: steps', async (t) => {
  const said = (word: string): Reply => ({ kind: 'bytes', bytes: word });
  const add = (letter: string) => (word: string) => word + letter;
  /** Each letter is a step; the middle one is given. */
  const route = (
    first: (exchange: Exchange) => Observable<string>,
    middle: (word: string, request: KeyedRequest) => string | Observable<string>,
  ) => compose(first, add('b'), add('c'), middle, add('e'), add('f'), (word: string) => of(said(word)));

  t.test('steps run in order with the context of their request', async (t) => {
    const told: KeyedRequest[] = [];
    const pipeline = route(
      ({ id }) => of(id),
      (word, request) => {
        told.push(request);
        return `${word}d`;
      },
    );
    const other = { subscription: 'sub_2', key: 'key_2' };
    const [one, two] = [
      { ...exchange(), id: '1' },
      { ...exchange(), id: '2' },
    ];
    const replies = [run(pipeline, one), pipeline(two, { exchange: two, caller: other })];
    t.equal(told.length, 0, 'nothing before it is subscribed to');
    t.strictSame(await Promise.all(replies.map((reply) => lastValueFrom(reply))), [
      said('1bcdef'),
      said('2bcdef'),
    ]);
    t.ok(told[0]?.exchange === one && told[0].caller === caller);
    t.ok(told[1]?.exchange === two && told[1].caller === other);
  });

  t.test('an asynchronous step is awaited, and unsubscribed with the reader', async (t) =>
    marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
      const body = cold('-(a|)');
      const later = cold('--(d|)');
      const pipeline = route(
        () => body,
        () => later,
      );
      expectObservable(run(pipeline, exchange())).toBe('---(r|)', { r: said('def') });
      expectObservable(run(pipeline, exchange()), '--!').toBe('');
      expectSubscriptions(body.subscriptions).toBe(['^!', '^!']);
      expectSubscriptions(later.subscriptions).toBe(['-^-!', '-^!']);
    }),
  );

  t.test('an error in a step ends the run', async (t) => {
    const thrown = (): never => {
      throw broken;
    };
    for (const pipeline of [
      route(thrown, add('d')),
      route(() => throwError(() => broken), add('d')),
      route(() => of('a'), thrown),
      route(
        () => of('a'),
        () => throwError(() => broken),
      ),
    ])
      await t.rejects(lastValueFrom(run(pipeline, exchange())), broken);
  });

  t.test('an unfinished body emits nothing', async (t) =>
    marbles(t, ({ cold, expectObservable }) => {
      const pipeline = route(() => cold('-|'), add('d'));
      expectObservable(run(pipeline, exchange())).toBe('-|');
    }),
  );
});

t.test('settle', async (t) => {
  interface Row {
    readonly name: string;
    readonly source: string;
    readonly expected: string;
    readonly subscribed: string;
    readonly error?: unknown;
    readonly leave?: string;
  }
  const rows: readonly Row[] = [
    { name: 'passes a whole answer', source: '-a-b-f-u-|', expected: '-a-b-f-u-|', subscribed: '^--------!' },
    {
      name: 'an error before the first part stays one',
      source: '--#',
      expected: '--#',
      subscribed: '^-!',
      error: broken,
    },
    { name: 'an error after it too', source: '-a-#', expected: '-a-#', subscribed: '^--!', error: broken },
    {
      name: 'a failure part that comes first is an error',
      source: '-x-|',
      expected: '-#',
      subscribed: '^!',
      error: broken,
    },
    {
      name: 'a failure part that comes later too, and the source is let go',
      source: '-a-x-|',
      expected: '-a-#',
      subscribed: '^--!',
      error: broken,
    },
    {
      name: 'what came with a failure part passes',
      source: '-a-y-|',
      expected: '-a-(n#)',
      subscribed: '^--!',
      error: broken,
    },
    {
      name: 'an end without a finish is a failure',
      source: '-a-b-|',
      expected: '-a-b-#',
      subscribed: '^----!',
      error: early,
    },
    {
      name: 'an end without anything is an error',
      source: '--|',
      expected: '--#',
      subscribed: '^-!',
      error: early,
    },
    {
      name: 'the source is let go with the reader',
      source: '-a-b-',
      expected: '-a-',
      subscribed: '^-!',
      leave: '--!',
    },
  ];
  for (const { name, source, expected, subscribed, error, leave } of rows) {
    t.test(name, async (t) =>
      marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
        const engine = cold(source, values, broken);
        expectObservable(engine.pipe(lift(settle, admitted(task))), leave).toBe(expected, values, error);
        expectSubscriptions(engine.subscriptions).toBe(subscribed);
      }),
    );
  }
});

t.test('resolveModel', async (t) => {
  const { catalog } = harness().ports;
  marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
    const body = { model: 'mock/thinker:express', other: 1 };
    const request = cold('--(b|)', { b: body });
    expectObservable(request.pipe(lift(resolveModel<typeof body>(catalog, 'chat'), admitted(task)))).toBe(
      '--(r|)',
      {
        r: { body, model: models[3], variant: 'express' },
      },
    );
    expectSubscriptions(request.subscriptions).toBe('^-!');
  });
  marbles(t, ({ cold, expectObservable }) => {
    const unknown = cold('-(b|)', { b: { model: 'mock/gone' } });
    expectObservable(
      unknown.pipe(lift(resolveModel<{ model: string }>(catalog, 'chat'), admitted(task))),
    ).toBe('-#', undefined, fail('not_found', 'There is no model mock/gone'));
  });
});

t.test('admit', async (t) => {
  const request = () => ({ exchange: exchange(), caller });
  const task = { model: model() };
  const admission = (grant: Lease | Observable<Lease>, asked: unknown[] = []) => ({
    ...harness().ports.admission,
    admit: (request: unknown) => {
      asked.push(request);
      return grant;
    },
  });
  const rows = [
    {
      name: 'completes',
      rest: 'a--b--|',
      expected: '---a--b--|',
      held: '---^-----!',
      leave: undefined,
      at: 9,
    },
    { name: 'fails', rest: 'a--#', expected: '---a--#', held: '---^--!', leave: undefined, at: 6 },
    { name: 'is left', rest: 'a-----', expected: '---a-', held: '---^-!', leave: '-----!', at: 5 },
  ] as const;
  for (const { name, rest, expected, held, leave, at } of rows) {
    t.test(`holds the slot until the rest ${name}`, async (t) => {
      const granted = lease();
      const released: number[] = [];
      const asked: unknown[] = [];
      marbles(t, ({ cold, expectObservable, expectSubscriptions }, now) => {
        granted.release = () => released.push(now());
        const work = cold(rest);
        const waiting = cold('---(l|)', { l: granted });
        expectObservable(
          of(task).pipe(
            lift(
              admit(
                admission(waiting, asked),
                compose(() => work),
              ),
              request(),
            ),
          ),
          leave,
        ).toBe(expected);
        expectSubscriptions(work.subscriptions).toBe(held);
      });
      t.strictSame(released, [at], 'once');
      t.strictSame(asked, [
        { subscription: 'sub_1', model: 'mock/chat', limits: { concurrency: 8, requests_per_minute: 1000 } },
      ]);
    });
  }

  t.test('a request that leaves the queue starts nothing', async (t) =>
    marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
      const waiting = cold<Lease>('-----l', { l: lease() });
      const work = cold('a|');
      expectObservable(
        of(task).pipe(
          lift(
            admit(
              admission(waiting),
              compose(() => work),
            ),
            request(),
          ),
        ),
        '--!',
      ).toBe('--');
      expectSubscriptions(waiting.subscriptions).toBe('^-!');
      expectSubscriptions(work.subscriptions).toBe([]);
    }),
  );

  t.test('a slot granted synchronously is held as long', async (t) => {
    const granted = lease();
    marbles(t, ({ cold, expectObservable, expectSubscriptions, flush }) => {
      const work = cold('a--b|');
      expectObservable(
        of(task).pipe(
          lift(
            admit(
              admission(granted),
              compose(() => work),
            ),
            request(),
          ),
        ),
      ).toBe('a--b|');
      expectSubscriptions(work.subscriptions).toBe('^---!');
      t.equal(granted.released, 0);
      flush();
    });
    t.equal(granted.released, 1);
  });

  for (const [when, grant] of [
    ['at once', (granted: Lease) => granted],
    ['later', (granted: Lease) => of(granted)],
  ] as const) {
    t.test(`a slot granted ${when} is released when the rest cannot start`, async (t) => {
      const granted = lease();
      marbles(t, ({ expectObservable }) => {
        const run = (): never => {
          throw broken;
        };
        expectObservable(of(task).pipe(lift(admit(admission(grant(granted)), compose(run)), request()))).toBe(
          '#',
          undefined,
          broken,
        );
      });
      t.equal(granted.released, 1);
    });
  }

  t.test('a refusal is passed on', async (t) =>
    marbles(t, ({ expectObservable }) => {
      const refused = admission(throwError(() => fail('rate_limited', 'Too many')));
      expectObservable(
        of(task).pipe(
          lift(
            admit(
              refused,
              compose(() => NEVER),
            ),
            request(),
          ),
        ),
      ).toBe('#', undefined, fail('rate_limited', 'Too many'));
    }),
  );
});

const call = plainCall({ stream: true });
const task: ChatTask<undefined> = {
  model: model(),
  call,
  promptTokens: undefined,
  hidesReasoning: false,
  framing: undefined,
};

t.test('callEngine', async (t) => {
  t.test('hands the call and the reader’s backpressure to the engine of the model', async (t) => {
    const at = harness();
    const asking = exchange();
    marbles(t, ({ expectObservable }) => {
      expectObservable(
        of(task).pipe(lift(callEngine(at.ports, 'chat'), { ...admitted(task), exchange: asking })),
      ).toBe('(ab|)', {
        a: [text('Hel')],
        b: [text('lo'), finish(), usage(5, 2)],
      });
    });
    t.strictSame(at.calls, [
      {
        model: task.model,
        call,
        flow: {
          requestId: 'req_0123',
          subscription: 'sub_1',
          session: undefined,
          backpressure: asking.backpressure,
          trace: undefined,
          served: undefined,
          tokenCounts: at.ports.tokenCounts,
          copies: undefined,
        },
      },
    ]);
  });
  t.test('calls no engine while usage cannot be recorded', async (t) => {
    const closed: UsageLog = {
      ...harness().ports.usage,
      ensureOpen: () => {
        throw full;
      },
    };
    const at = harness();
    marbles(t, ({ expectObservable }) => {
      expectObservable(
        of(task).pipe(lift(callEngine({ ...at.ports, usage: closed }, 'chat'), admitted(task))),
      ).toBe('#', undefined, full);
    });
    t.equal(at.calls.length, 0);
  });
});

/** Parts as text, as a framing of server-sent events treats them. */
const plainFrame = transform<SettledParts, Reply>((next) => {
  let started = false;
  const failure = ({ status }: ApiError) => `failed ${status}`;
  return {
    next: (parts) => {
      if (!started) next.next({ kind: 'head', status: 200, headers: {}, failure });
      started = true;
      const bytes = JSON.stringify(parts);
      next.next(parts[0]?.type === 'usage' ? { kind: 'bytes', bytes, last: true } : { kind: 'bytes', bytes });
    },
    error: (error) => next.error(error),
    complete: () => next.complete(),
  };
});

const metered = (log: UsageLog, request: ReturnType<typeof admitted>) =>
  pipe(
    lift(countTokens, request),
    lift(plainFrame, request),
    lift(record(log), request),
    concatMap((reply) => (reply.kind === 'bytes' ? [String(reply.bytes)] : [])),
  );

const framedValues = {
  ...Object.fromEntries(Object.entries(values).map(([letter, parts]) => [letter, JSON.stringify(parts)])),
  x: 'failed 504',
  g: 'failed 503',
};

t.test('countTokens and record', async (t) => {
  interface Row {
    readonly name: string;
    readonly source: string;
    /** How long recording takes; synchronous by default. */
    readonly recording?: string;
    readonly expected: string;
    readonly subscribed: string;
    readonly leave?: string;
    readonly error?: unknown;
    readonly whole?: boolean;
    readonly event: Partial<UsageEvent>;
  }
  const tokens = (prompt: number, completion: number) => ({
    quantities: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      cached_tokens: 0,
      reasoning_tokens: 0,
    },
    generated_tokens: completion,
  });
  const rows: readonly Row[] = [
    {
      name: 'a whole answer, the engine’s numbers',
      source: '-a-b-f-u-|',
      expected: '-a-b-f---(u|)',
      subscribed: '^--------!',
      event: { outcome: 'completed', status: 200, ...tokens(10, 4), delivered_tokens: 4, cost: '0.000018' },
    },
    {
      name: 'usage that comes with text is taken out of it',
      source: '-a-w|',
      expected: '-a-v(u|)',
      subscribed: '^---!',
      event: { outcome: 'completed', ...tokens(10, 4), cost: '0.000018' },
    },
    {
      name: 'without the engine’s numbers its own count',
      source: '-a-v|',
      expected: '-a-v(o|)',
      subscribed: '^---!',
      event: { outcome: 'completed', ...tokens(8, 4), cost: '0.000016' },
    },
    {
      name: 'the end is held until the event is safe',
      source: '-a-f-u|',
      recording: '---|',
      expected: '-a-f-----(u|)',
      subscribed: '^-----!',
      event: { outcome: 'completed', ...tokens(10, 4) },
    },
    {
      name: 'an event that cannot be kept fails the answer',
      source: '-a-f-u|',
      recording: '--#',
      expected: '-a-f----(g|)',
      subscribed: '^-----!',
      event: { outcome: 'completed' },
    },
    {
      name: 'a failure after the first token costs nothing',
      source: '-a-n#',
      recording: '-|',
      expected: '-a-n-(x|)',
      subscribed: '^---!',
      event: { outcome: 'failed', status: 504, ...tokens(8, 4), delivered_tokens: 4, cost: '0' },
    },
    {
      name: 'a failure before it neither',
      source: '--#',
      recording: '-|',
      expected: '---#',
      error: broken,
      subscribed: '^-!',
      event: { outcome: 'failed', status: 504, ...tokens(0, 0), cost: '0', first_token_ms: null },
    },
    {
      name: 'a client that leaves pays for what was generated',
      source: '-a-b-f-u-|',
      expected: '-a--',
      leave: '---!',
      subscribed: '^--!',
      event: { outcome: 'cancelled', status: 499, ...tokens(8, 3), delivered_tokens: 3, cost: '0.000014' },
    },
    {
      name: 'a client that leaves before anything came pays nothing',
      source: '----a',
      expected: '--',
      leave: '--!',
      subscribed: '^-!',
      event: { outcome: 'cancelled', status: 499, ...tokens(0, 0), cost: '0', first_token_ms: null },
    },
    {
      name: 'a client that leaves a whole answer got none of it',
      source: '-a----',
      whole: true,
      expected: '-a-',
      leave: '---!',
      subscribed: '^--!',
      event: { outcome: 'cancelled', ...tokens(8, 3), delivered_tokens: 0, cost: '0.000014' },
    },
    {
      name: 'a client that leaves while the event is written is not counted twice',
      source: '-a-f-u|',
      recording: '----|',
      expected: '-a-f---',
      leave: '--------!',
      subscribed: '^-----!',
      event: { outcome: 'completed', ...tokens(10, 4) },
    },
  ];
  t.test('hidden reasoning is counted and billed, but goes no further', async (t) => {
    const { ports, events } = harness();
    marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
      const engine = cold<SettledParts>('-r-m-w|', {
        r: [thought('Let me think')] as SettledParts,
        m: [thought('!'), text('So')] as SettledParts,
        w: [finish()],
      });
      const request = admitted({ ...task, hidesReasoning: true });
      expectObservable(engine.pipe(metered(ports.usage, request))).toBe('-r-m-w(u|)', {
        r: '[]',
        m: JSON.stringify([text('So')]),
        w: JSON.stringify([finish()]),
        u: JSON.stringify([usage(8, 5, 0, 4)]),
      });
      expectSubscriptions(engine.subscriptions).toBe('^-----!');
    });
    t.match(events, [{ quantities: { completion_tokens: 5, reasoning_tokens: 4 }, cost: '0.000018' }]);
  });

  t.test('an engine that exceeds the token limit is stopped with a failure', async (t) => {
    const big: SettledParts = [text('x'.repeat(1024 * 1024))];
    const { ports, events } = harness();
    let passed = 0;
    const source = new Observable<SettledParts>((subscriber) => {
      for (let count = 0; count < 100 && !subscriber.closed; count++) subscriber.next(big);
    });
    const last = await lastValueFrom(
      source.pipe(
        metered(ports.usage, admitted(task)),
        tap(() => passed++),
      ),
    );
    t.equal(last, 'failed 502');
    t.equal(passed, 66);
    t.match(events, [{ outcome: 'failed', status: 502, cost: '0' }]);
  });

  for (const { name, source, recording = '|', expected, subscribed, leave, error, whole, event } of rows) {
    t.test(name, async (t) => {
      const events: UsageEvent[] = [];
      marbles(t, ({ cold, expectObservable, expectSubscriptions }) => {
        const log: UsageLog = {
          ...harness().ports.usage,
          record: (event) =>
            defer(() => {
              events.push(event);
              return cold<void>(recording, undefined, full);
            }),
        };
        const engine = cold(source, values as Record<string, SettledParts>, broken);
        const request = admitted(whole === true ? { ...task, call: { ...call, stream: false } } : task, 7);
        expectObservable(engine.pipe(metered(log, request)), leave).toBe(expected, framedValues, error);
        expectSubscriptions(engine.subscriptions).toBe(subscribed);
      });
      t.equal(events.length, 1, 'one event');
      t.match(events[0], {
        schema: 1,
        id: 'usage_req_0123',
        request_id: 'req_0123',
        subscription: 'sub_1',
        key: 'key_1',
        route: '/chat/completions',
        model: 'mock/chat',
        engine: 'mock',
        price: task.model.pricing,
        queued_ms: 7,
        ...event,
      });
    });
  }
});
