/** Streams that cannot be continued rightly, or may not be: they end with the error event, and cost nothing. */
import t from 'tap';
import { startGateway } from '../gateway.ts';
import {
  begin,
  breaks,
  delta,
  finish,
  type PoolOptions,
  type PoolScript,
  recorded,
  startPool,
  text,
  thought,
} from './fixtures.ts';

const broken =
  (events: readonly string[]): PoolScript =>
  (request, number) => {
    if (number > 0) return finish(request, [text(' two')]);
    begin(request, events);
    return breaks['connection closed'](request);
  };

const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
const schema = { name: 'sea', schema: { type: 'object' } };

interface Refused extends PoolOptions {
  readonly body?: object;
  readonly events?: readonly string[];
}

const long = 'x'.repeat(1024);

const refused: Readonly<Record<string, Refused>> = {
  'several answers': { body: { n: 2 } },
  'several answers, one call each': { body: { n: 2 }, engine: ', fan_out_n: true' },
  'log-probabilities': { body: { logprobs: true } },
  'a JSON schema': { body: { response_format: { type: 'json_schema', json_schema: schema } } },
  'a JSON object': { body: { response_format: { type: 'json_object' } } },
  'a tool that must be called': { body: { tools: [look], tool_choice: 'required' } },
  'guided decoding by a field of the engine': { body: { regex: '[a-z]+' } },
  'an open tool call': {
    body: { tools: [look] },
    events: [
      delta({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{"a' } }] }),
    ],
  },
  'text, then a tool call': {
    body: { tools: [look] },
    events: [
      text('One'),
      delta({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } }] }),
    ],
  },
  'reasoning after text': {
    model: ', reasoning: { mandatory: false }',
    events: [thought('Hm'), text('One'), thought('Hm')],
  },
  'more text than is kept': { events: Array.from({ length: 129 }, () => text(long)) },
  'one replica': { replicas: 1 },
  'one attempt': { engine: ', retries: { attempts: 1 }' },
  'no budget': { engine: ', retries: { budget: 0, budget_min: 0 }' },
};

for (const [name, { body = {}, events = [text('One')], ...options }] of Object.entries(refused))
  t.test(name, async (t) => {
    const pool = await startPool(t, broken(events), options);
    const answer = await pool.stream(body);
    t.match(answer.error, { code: 502 });
    t.equal(answer.finish, 'error');
    t.notOk('x_sluice_attempts' in answer.last);
    t.ok(answer.raw.endsWith('data: [DONE]\n\n'));
    t.notOk(pool.calls.some((call) => 'continue_final_message' in call));
    t.match(await recorded(pool.events), { outcome: 'failed', cost: '0' });
    t.equal(await pool.metric('sluice_engine_continuations_total'), 0);
    t.ok((await pool.metric('sluice_engine_continuations_failed_total')) > 0);
    t.ok(pool.gateway.logLines.some(({ msg }) => msg === 'stream not continued'));
  });

t.test('an engine that does not continue', async (t) => {
  const pool = await startPool(t, broken([text('One')]), { continues: false });
  const answer = await pool.stream();
  t.match(answer.error, { code: 502 });
  t.equal(pool.calls.length, 1);
  t.equal(await pool.metric('sluice_engine_continuations_failed_total'), 0);
});

t.test('the error is that of the broken stream, whatever another replica says', async (t) => {
  const others: Readonly<Record<string, PoolScript>> = {
    'refused as a wrong request': (request) => request.json(400, { error: { message: 'what is this?' } }),
    unavailable: (request) => request.json(503, { error: { message: 'busy' } }),
    'no stream': (request) => request.json(200, { error: { message: 'what is this?' } }),
  };
  for (const [name, script] of Object.entries(others)) {
    const pool = await startPool(t, (request, number) => {
      if (number > 0) return script(request, number);
      begin(request, [text('One')]);
      return breaks['connection closed'](request);
    });
    const answer = await pool.stream();
    t.match(answer.error, { code: 502, message: 'The connection to the engine broke' }, name);
    t.equal(answer.text, 'One');
    t.equal(pool.calls.length, 2);
    t.match(await recorded(pool.events), { outcome: 'failed', cost: '0' });
    t.equal(await pool.metric('sluice_engine_continuations_failed_total'), 1);
  }
});

t.test('attempts are counted over the whole answer', async (t) => {
  const pool = await startPool(
    t,
    (request) => {
      begin(request, [text('One')]);
      return breaks.abort(request);
    },
    { replicas: 5 },
  );
  const answer = await pool.stream();
  t.match(answer, { text: 'OneOneOne', error: { code: 502 } }, 'three in all');
  t.equal(pool.calls.length, 3);
});

t.test('the total limit and a failure of the request itself are no breaks', async (t) => {
  const late = await startPool(t, (request) => begin(request, [text('One')]), {
    engine: ', timeouts: { total: 500ms }',
  });
  t.match((await late.stream()).error, { code: 504 });
  t.equal(late.calls.length, 1);
  const refusing = await startPool(t, (request) => {
    begin(request, [text('One'), 'data: {"error":{"message":"too long","code":400}}\n\n']);
    request.end();
  });
  t.match((await refusing.stream()).error, { code: 400, message: 'too long' });
  t.equal(refusing.calls.length, 1);
});

t.test('a wire that has no continuation', async (t) => {
  const catalog = `
engines:
  far: { wire: anthropic, replicas: ['http://127.0.0.1:9/v1'], continues: true }
models:
  far/chat: { engine: far, served_as: writer, context_length: 1000, tokenizer: simulator }
`;
  await t.rejects(startGateway({ catalog }), {
    message: /engines\.far\.continues must not be true: wire anthropic has no continuation/,
  });
});
