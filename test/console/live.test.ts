/** Tests what the live page keeps of snapshots, and how it divides the time of a request. */
import t from 'tap';
import type { LiveRow, LiveSnapshot } from '../../schemas/admin/live.ts';
import type { LogEntry, Timeline } from '../../schemas/admin/requests.ts';
import { groupsOf, mostEnded, mostPoints, nextState } from '../../src/console/web/pages/live/state.ts';
import { phasesOf, segmentsOf } from '../../src/console/web/pages/live/timeline.ts';

const timeline = (more: Partial<Timeline> = {}): Timeline => ({
  ...{ received: 0, parsed: null, admitted: null, engine_called: null, engine_answered: null },
  ...{ first_byte: null, first_token: null, billed: null, last_byte: null },
  ...more,
});

const row = (id: string, more: Partial<LiveRow> = {}): LiveRow => ({
  ...{ id, object: 'request', process: 1, method: 'POST', route: 'chat/completions', model: 'a/b' },
  ...{ subscription: 'sub_1', key: 'key_1', replica: null, attempts: 1, continuations: 0, queue_ms: 0 },
  ...{ first_token_ms: null, prompt_tokens: 0, completion_tokens: 0, timeline: timeline() },
  ...{ state: 'streaming', engine: 'pool', age_ms: 0, slow_reader: false, unread_bytes: 0 },
  tokens_per_second: null,
  ...more,
});

const end = (id: string, more: Partial<LogEntry> = {}): LogEntry => {
  const { state, engine, age_ms, slow_reader, unread_bytes, tokens_per_second, ...request } = row(id);
  return {
    ...{ ...request, object: 'request.ended', time: 1, status: 200, cut: null, total_ms: 10, cost: null },
    ...more,
  };
};

const snapshot = (more: Partial<LiveSnapshot> = {}): LiveSnapshot => ({
  ...{ object: 'live.snapshot', time: 1000, interval_ms: 1000, processes: 1, tokens_per_second: null },
  counts: { receiving: 0, queued: 0, running: 0, streaming: 0, slow_readers: 0 },
  ...{ models: [], engines: [], requests: [], ended: [], ended_count: 0 },
  ...more,
});

t.test('points and ended requests are kept within bounds, the newest ended first', async (t) => {
  const counts = { receiving: 1, queued: 2, running: 3, streaming: 4, slow_readers: 4 };
  let state = nextState(undefined, snapshot({ counts }));
  t.strictSame(state.points, [{ at: 1, tokens: null, inFlight: 10, ended: null }]);
  state = nextState(
    state,
    snapshot({ time: 3000, tokens_per_second: 5, ended: [end('1'), end('2')], ended_count: 8 }),
  );
  t.strictSame(state.points.at(-1), { at: 3, tokens: 5, inFlight: 0, ended: 4 });
  state = nextState(state, snapshot({ time: 4000, ended: [end('2'), end('3')], ended_count: 2 }));
  t.strictSame(
    state.ended.map(({ id }) => id),
    ['3', '2', '1'],
    'one that is sent twice is one',
  );
  for (let made = 0; made < 300; made++)
    state = nextState(state, snapshot({ time: 5000 + made, ended: [end(`more-${made}`)], ended_count: 1 }));
  t.equal(state.points.length, mostPoints);
  t.equal(state.ended.length, mostEnded);
  t.equal(state.ended[0]?.id, 'more-299');
});

t.test('requests are grouped by engine and model, the oldest first, and stay where they are', async (t) => {
  const others = [row('4', { engine: null, model: null }), row('2', { model: 'a/a' })];
  const before = nextState(undefined, snapshot({ requests: [row('3'), ...others, row('1')] }));
  const groups = groupsOf(
    nextState(before, snapshot({ requests: [row('5'), row('1'), ...others, row('3')] })),
  );
  t.strictSame(
    groups.map(({ id, models }) => [
      id,
      models.map((model) => [model.id, model.requests.map((each) => each.id)]),
    ]),
    [
      [
        'pool',
        [
          ['a/a', ['2']],
          ['a/b', ['1', '3', '5']],
        ],
      ],
      [null, [[null, ['4']]]],
    ],
  );
});

t.test('phases of a request, by what is known of it', async (t) => {
  const of = (state: LiveRow['state'], known: Partial<Timeline>) =>
    phasesOf(row('1', { state, age_ms: 100, timeline: timeline(known) }));
  t.strictSame(of('receiving', {}), { receive: 100, queue: 0, wait: 0, stream: 0 });
  t.strictSame(of('queued', { parsed: 10 }), { receive: 10, queue: 90, wait: 0, stream: 0 });
  t.strictSame(of('running', { parsed: 10, admitted: 30 }), { receive: 10, queue: 20, wait: 70, stream: 0 });
  t.strictSame(of('streaming', { parsed: 10, admitted: 30, first_byte: 40, first_token: 60 }), {
    ...{ receive: 10, queue: 20, wait: 30, stream: 40 },
  });
  t.strictSame(of('streaming', { parsed: 10, first_byte: 40 }), {
    receive: 10,
    queue: 0,
    wait: 30,
    stream: 60,
  });
  t.strictSame(
    phasesOf(end('1', { total_ms: 50, timeline: timeline({ parsed: 10, admitted: 10, first_token: 70 }) })),
    { receive: 10, queue: 0, wait: 40, stream: 0 },
    'never longer than the request',
  );
});

t.test('segments follow each other in the order of time', async (t) => {
  const known = {
    parsed: 5,
    admitted: 6,
    engine_called: 7,
    first_byte: 20,
    first_token: 20,
    engine_answered: 19,
  };
  t.strictSame(segmentsOf(row('1', { age_ms: 90, timeline: timeline(known) })), [
    { name: 'Body received', from: 0, to: 5 },
    { name: 'Admitted', from: 5, to: 6 },
    { name: 'Engine called', from: 6, to: 7 },
    { name: 'Engine answered', from: 7, to: 19 },
    { name: 'First byte sent', from: 19, to: 20 },
    { name: 'First token', from: 20, to: 20 },
    { name: 'Streaming …', from: 20, to: 90 },
  ]);
  t.strictSame(
    segmentsOf(end('1', { timeline: timeline({ last_byte: 30, billed: 29 }) })).map(({ name }) => name),
    ['Billed', 'Last byte sent'],
  );
  t.strictSame(
    segmentsOf(end('1', { timeline: timeline({ first_byte: 5, billed: 29, last_byte: 30 }) })).map(
      ({ name }) => name,
    ),
    ['First byte sent', 'Billed, after the stream', 'Last byte sent'],
  );
});
