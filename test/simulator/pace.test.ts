/** Tests the simulator's timing: pace, backpressure and the faults of directives. */
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import type { Backpressure } from '../../src/ports/backpressure.ts';
import { directiveNames, readDirectives } from '../../src/simulator/directives.ts';
import { ConnectionLost } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { Ticker } from '../../src/simulator/ticker.ts';
import { callOf, finishOf, plainModel, run, start, textOf, usageOf, VirtualClock } from './fixtures.ts';

fc.configureGlobal({ seed: 20260101 });

const tokensIn = (parts: readonly { type: string }[]): number =>
  parts.filter((part) => part.type === 'text').length;

t.test('tokens are emitted one by one at the requested rate', async (t) => {
  const clock = new VirtualClock();
  const { emissions, parts } = start(clock, callOf('/sim tokens=5 rate=10/s first=2s'));
  clock.advance(1999);
  t.equal(emissions.length, 0);
  clock.advance(10_000);
  t.same(
    emissions.map(({ at, parts }) => [at, parts.map((part) => part.type).join()]),
    [
      [2000, 'text'],
      [2100, 'text'],
      [2200, 'text'],
      [2300, 'text'],
      [2400, 'text'],
      [2500, 'finish,usage'],
    ],
  );
  t.equal(tokensIn(parts), 5);
  t.equal(clock.armed, 0);
});

t.test('a rate above the timer resolution batches tokens and keeps the rate', async (t) => {
  const clock = new VirtualClock();
  const { emissions } = start(clock, callOf('/sim tokens=2000 rate=2000/s'));
  clock.advance(5000);
  const last = emissions.at(-1);
  t.ok(last !== undefined && Math.abs(last.at - 1000) <= 8, `ended at ${last?.at}`);
  t.ok(emissions.length > 100 && emissions.length < 500, `${emissions.length} emissions`);
  t.ok(emissions.every((emission) => emission.parts.length > 0 && emission.parts.length <= 33));
});

t.test('without a pace everything is emitted at once, in bounded chunks', async (t) => {
  const clock = new VirtualClock();
  const { emissions, isComplete } = start(clock, callOf('/sim tokens=500 rate=max'));
  t.equal(emissions.length, 0, 'nothing before the subscriber has returned');
  clock.advance(0);
  t.equal(tokensIn(emissions.flatMap(({ parts }) => parts)), 500);
  t.ok(emissions.every(({ at, parts }) => at === 0 && parts.length <= 33));
  t.notOk(isComplete && clock.armed > 0);
});

t.test('a paused reader stops timers and tokens, and nothing is made up for later', async (t) => {
  const clock = new VirtualClock();
  const recording = start(clock, callOf('/sim tokens=100 rate=10/s'));
  clock.advance(950);
  t.equal(tokensIn(recording.parts), 10);
  recording.backpressure.pause();
  t.equal(clock.armed, 0, 'no timer runs');
  clock.advance(60_000);
  t.equal(tokensIn(recording.parts), 10);
  recording.backpressure.resume();
  clock.advance(200);
  t.ok(tokensIn(recording.parts) <= 13, `${tokensIn(recording.parts)} tokens after the pause`);
  clock.advance(20_000);
  t.equal(tokensIn(recording.parts), 100);
  t.ok(recording.isComplete);
});

t.test('a reader that pauses during an emission gets no further one', async (t) => {
  for (const rate of ['max', '1000/s', '50/s']) {
    const clock = new VirtualClock();
    const pausing = (backpressure: Backpressure) => backpressure.pause();
    const call = callOf(`/sim tokens=200 rate=${rate}`);
    const recording = start(clock, call, plainModel, {}, createSimulator({ clock }), pausing);
    for (let turn = 1; turn <= 1000 && !recording.isComplete; turn += 1) {
      clock.advance(1000);
      t.equal(recording.emissions.length, turn);
      t.equal(clock.armed, 0);
      recording.backpressure.resume();
    }
    t.equal(tokensIn(recording.parts), 200, rate);
  }
});

t.test('a reader paused before the start gets nothing until it resumes', async (t) => {
  const clock = new VirtualClock();
  const recording = start(clock, callOf('/sim tokens=3'));
  recording.backpressure.pause();
  clock.advance(10_000);
  t.equal(recording.parts.length, 0);
  recording.backpressure.resume();
  clock.advance(10_000);
  t.equal(tokensIn(recording.parts), 3);
});

t.test('unsubscribing stops the timers at once', async (t) => {
  for (const directive of ['rate=10/s', 'rate=max', 'first=10m', 'stall=10m@1']) {
    const clock = new VirtualClock();
    const recording = start(clock, callOf(`/sim ${directive} tokens=1000`));
    clock.advance(directive === 'rate=max' ? 0 : 500);
    const seen = recording.parts.length;
    recording.subscription.unsubscribe();
    t.equal(clock.armed, 0, directive);
    clock.advance(1_000_000);
    t.equal(recording.parts.length, seen);
    recording.backpressure.pause();
    recording.backpressure.resume();
    t.equal(clock.armed, 0, 'the reader cannot wake it up again');
  }
});

t.test('many streams share one timer', async (t) => {
  const clock = new VirtualClock();
  const engine = createSimulator({ clock });
  const recordings = Array.from({ length: 200 }, (_, index) =>
    start(clock, callOf(`/sim tokens=20 rate=${50 + index}/s\n${index}`), plainModel, {}, engine),
  );
  for (let step = 0; step < 20; step += 1) {
    clock.advance(50);
    t.ok(clock.armed <= 1);
  }
  clock.advance(1000);
  t.ok(recordings.every((recording) => recording.isComplete && tokensIn(recording.parts) === 20));
});

t.test('a task may add and remove others while it runs', async (t) => {
  const clock = new VirtualClock();
  const ticker = new Ticker(clock);
  const ran: string[] = [];
  const task = (name: string, due: number, act: () => void) => ({
    due,
    run() {
      ran.push(`${name}@${clock.now()}`);
      ticker.remove(this);
      act();
    },
  });
  const late = task('late', 50, () => {});
  const never = task('never', 20, () => {});
  const first = task('first', 20, () => {
    ticker.remove(never);
    ticker.add(task('soon', 0, () => {}));
  });
  for (const one of [late, first, never]) ticker.add(one);
  clock.advance(100);
  t.same(ran, ['first@20', 'soon@20', 'late@50']);
  t.equal(clock.armed, 0);
});

t.test('faults occur where they are requested', async (t) => {
  const stalled = new VirtualClock();
  const { emissions } = start(stalled, callOf('/sim tokens=4 rate=100/s stall=5s@2'));
  stalled.advance(10_000);
  t.same(
    emissions.map(({ at }) => at),
    [0, 10, 5020, 5030, 5040],
  );
  const early = run(callOf('/sim fail=503@0'));
  t.equal(early.parts.length, 0);
  t.match(early.error, { kind: 'unavailable', message: 'Simulated failure 503' });
  t.match(run(callOf('/sim fail=429')).error, { kind: 'rate_limited', headers: { 'retry-after': '1' } });
  const late = run(callOf('/sim fail=503@10\nquestion'));
  t.equal(tokensIn(late.parts), 10);
  t.match(late.parts.at(-1), { type: 'failure', error: { kind: 'unavailable' } });
  t.equal(late.error, undefined);
  t.ok(late.isComplete);
  t.equal(usageOf(late.parts), undefined);
  const dropped = run(callOf('/sim drop@3'));
  t.match(dropped.parts.at(-1), { type: 'failure', error: { kind: 'engine_unreachable' } });
  const first = run(callOf('/sim drop@0')).error;
  t.ok(first instanceof ApiError && first.cause instanceof ConnectionLost && first.cause.how === 'reset');
  t.match(run(callOf('/sim end@3')).parts.at(-1), { error: { cause: { how: 'end' } } });
  const short = run(callOf('/sim tokens=2 fail=500@10'));
  t.same(
    short.parts.map((part) => part.type),
    ['text', 'text', 'finish', 'failure'],
    'at the end of a shorter answer',
  );
  const several = run(callOf('/sim stall=1s@2 fail=504@4 tokens=10'));
  t.equal(tokensIn(several.parts), 4);
  t.match(several.parts.at(-1), { error: { kind: 'timeout' } });
});

t.test('every status of a failure', async (t) => {
  for (const status of [400, 401, 404, 409, 413, 422, 429, 500, 502, 503, 504, 529]) {
    const { error } = run(callOf(`/sim fail=${status}`));
    t.ok(error instanceof ApiError && error.status === status, String(status));
  }
});

t.test('the other directives', async (t) => {
  t.equal(textOf(run(callOf('/sim text="a \\"b\\"\\n👋"')).parts), 'a "b"\n👋');
  t.equal(textOf(run(callOf('/sim echo\nsay this\nand that')).parts), 'say this\nand that');
  t.equal(usageOf(run(callOf('/sim usage=off')).parts), undefined);
  t.match(finishOf(run(callOf('/sim finish=content_filter')).parts), { reason: 'content_filter' });
  t.match(usageOf(run(callOf('/sim cached=2')).parts), { cached: 2 });
  const usage = usageOf(run(callOf('/sim cached=99999')).parts);
  t.equal(usage?.cached, usage?.prompt, 'never more than the prompt');
  t.match(textOf(run(callOf('/simulate this')).parts), /^You asked about simulate\./, 'no directive');
  t.equal(textOf(run(callOf('hello\n/sim tokens=2')).parts), 'You.', 'on any line');
});

t.test('invalid directives are named in the error', async (t) => {
  const number = 'must be a whole number from';
  const time = 'must be a time up to 10m';
  const cases: [string, string][] = [
    ['tokens', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=many', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=-1', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=1.5', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=1000001', `/sim tokens ${number} 0 to 1000000`],
    ['tokens=1 tokens=2', '/sim tokens is given twice'],
    ['reasoning=x', `/sim reasoning ${number} 0 to 1000000`],
    ['calls=0', `/sim calls ${number} 1 to 32`],
    ['calls=33', `/sim calls ${number} 1 to 32`],
    ['cached=x', `/sim cached ${number} 0`],
    ['rate=0', '/sim rate must be tokens a second from 0.1 to 1000000'],
    ['rate=fast', '/sim rate must be tokens a second from 0.1 to 1000000'],
    ['rate=1e9', '/sim rate must be tokens a second from 0.1 to 1000000'],
    ['first=soon', `/sim first ${time}`],
    ['first=11m', `/sim first ${time}`],
    ['first=-1s', `/sim first ${time}`],
    ['seed=abc', '/sim seed must be a whole number or "random"'],
    ['fail=200', '/sim fail must be a status and a place, such as 503@10'],
    ['fail=503@x', '/sim fail must be a status and a place'],
    ['fail=503@1000001', '/sim fail must be a status and a place'],
    ['fail=constructor', '/sim fail must be a status and a place'],
    ['stall=5s@', '/sim stall must be a time up to 10m and a place'],
    ['stall=20m@1', '/sim stall must be a time up to 10m and a place'],
    ['drop', '/sim drop must name a place, as in drop@10'],
    ['drop=10', '/sim drop must name a place, as in drop@10'],
    ['end@x', '/sim end must name a place, as in end@10'],
    ['echo=yes', '/sim echo takes no value'],
    ['tool=', '/sim tool must name a tool'],
    ['finish=soon', '/sim finish must be one of stop, length, tool_calls, content_filter'],
    ['usage=on', '/sim usage must be "off"'],
    ['text="\\x"', '/sim text must be quoted as a JSON string'],
    ['text="open', 'cannot read the /sim line at "text="open"'],
    ['tokens=1"2', 'cannot read the /sim line at "tokens=1"2"'],
    ['=1', 'cannot read the /sim line at "=1"'],
    ['flop=1', 'unknown /sim directive "flop"'],
    ['__proto__=1', 'unknown /sim directive "__proto__"'],
    ['constructor', 'unknown /sim directive "constructor"'],
    [`text=${'x'.repeat(70_000)}`, 'the /sim line must be at most 65536 characters'],
  ];
  for (const [line, message] of cases) {
    const { error, parts } = run(callOf(`/sim ${line}\nhello`));
    t.ok(error instanceof ApiError && error.kind === 'invalid_request', line.slice(0, 40));
    t.ok(String(error).includes(`messages[0].content: ${message}`), String(error).slice(0, 120));
    t.equal(parts.length, 0);
  }
});

t.test('any line is either parsed or refused, quickly', async () => {
  const name = fc.oneof(fc.constantFrom(...directiveNames), fc.string({ maxLength: 8 }));
  const value = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.json(),
    fc.constantFrom('503@10', '5s@2', 'max'),
  );
  const line = fc.array(fc.tuple(name, fc.constantFrom('=', '@', ' ', ''), value).map((one) => one.join('')));
  fc.assert(
    fc.property(line, (words) => {
      try {
        const read = readDirectives(`/sim ${words.join(' ')}\nrest`, 'messages[0].content');
        return read !== undefined && Array.isArray(read.directives.faults);
      } catch (thrown) {
        return thrown instanceof ApiError && thrown.status === 400;
      }
    }),
  );
});
