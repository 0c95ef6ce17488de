/** A replica that breaks a stream off: another one goes on, and the client reads one stream. */
import t from 'tap';
import { begin, breaks, finish, question, recorded, startPool, streamed, text } from './fixtures.ts';

for (const [name, breakOff] of Object.entries(breaks))
  t.test(`broken off by: ${name}`, async (t) => {
    const pool = await startPool(
      t,
      (request, number) => {
        if (number > 0) return finish(request, [text(' three'), text(' four')]);
        begin(request, [text('One'), text(' two')]);
        return breakOff(request);
      },
      { engine: ', timeouts: { idle: 300ms }' },
    );
    const answer = await pool.stream({ max_tokens: 50, seed: 7, stop: ['END'] });
    t.equal(answer.text, 'One two three four');
    t.equal(answer.error, undefined);
    t.equal(new Set(answer.events.map(({ id }) => id)).size, 1, 'one id');
    t.equal(answer.response.headers.get('x-sluice-attempts'), '1', 'the head was sent before');
    t.match(answer.last, {
      choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'stop' }],
      usage: { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 },
      x_sluice_attempts: 2,
    });
    t.ok(answer.raw.endsWith('data: [DONE]\n\n'));

    t.strictSame(pool.calls[1], {
      ...pool.calls[0],
      messages: [...question, { role: 'assistant', content: 'One two' }],
      max_tokens: 48,
      continue_final_message: true,
      add_generation_prompt: false,
    });
    t.strictSame(
      pool.engines.map(({ requests }) => requests.length),
      [1, 1],
      'another replica',
    );
    t.match(await recorded(pool.events), {
      outcome: 'completed',
      quantities: { prompt_tokens: 8, completion_tokens: 4, cached_tokens: 0 },
      delivered_tokens: 4,
    });
    t.equal(pool.events.length, 1);
    t.equal(await pool.metric('sluice_engine_continuations_total'), 1);
    t.equal(await pool.metric('sluice_engine_continuations_failed_total'), 0);
    t.equal(await pool.metric('sluice_engine_retries_total'), 1, 'it counts against the budget');
    const id = answer.response.headers.get('x-request-id');
    const { logLines } = pool.gateway;
    t.match(
      logLines.filter(({ msg }) => msg === 'stream continued'),
      [{ engine: 'far', request_id: id, model: 'far/chat', level: 40 }],
    );
    t.match(
      logLines.filter(({ msg }) => msg === 'request'),
      [{ request_id: id, attempts: 2, continuations: 1, completion_tokens: 4 }],
    );
  });

t.test('an undisturbed stream of such an engine is as before', async (t) => {
  const pool = await startPool(t, (request) => finish(request, [text('One'), text(' two')]));
  const answer = await pool.stream();
  t.equal(answer.text, 'One two');
  t.match(answer.last.usage, { prompt_tokens: 99, completion_tokens: 77 }, "the engine's own numbers");
  t.notOk('x_sluice_attempts' in answer.last);
  t.notOk(pool.gateway.logLines.some((line) => 'continuations' in line));
});

t.test('it breaks off twice', async (t) => {
  const pool = await startPool(
    t,
    (request, number) => {
      if (number === 2) return finish(request, [text(' three')]);
      begin(request, number === 0 ? [text('One')] : [text(' two')]);
      return breaks.abort(request);
    },
    { replicas: 3 },
  );
  const answer = await pool.stream({ max_tokens: 50 });
  t.equal(answer.text, 'One two three');
  t.match(answer.last, { usage: { prompt_tokens: 8, completion_tokens: 3 }, x_sluice_attempts: 3 });
  t.match(pool.calls[2], { messages: [{}, { content: 'One two' }], max_tokens: 48 });
  t.strictSame(
    pool.engines.map(({ requests }) => requests.length),
    [1, 1, 1],
  );
});

t.test('two replicas are restarted one after the other', async (t) => {
  const pool = await startPool(t, (request, number) => {
    if (number === 2) return finish(request, [text(' three')]);
    begin(request, number === 0 ? [text('One')] : [text(' two')]);
    return breaks.abort(request);
  });
  t.match(await pool.stream(), { text: 'One two three', last: { x_sluice_attempts: 3 } });
  t.strictSame(pool.engines.map(({ requests }) => requests.length).sort(), [1, 2], 'the first is back');
});

t.test('before there is any text, the call is repeated as it was', async (t) => {
  const pool = await startPool(t, (request, number) => {
    if (number > 0) return finish(request, [text('One')]);
    begin(request, []);
    return breaks['connection closed'](request);
  });
  const answer = await pool.stream();
  t.equal(answer.text, 'One');
  t.strictSame(pool.calls[1], pool.calls[0]);
});

t.test('the replica that should go on fails before it does', async (t) => {
  const pool = await startPool(
    t,
    (request, number) => {
      if (number === 0) {
        begin(request, [text('One')]);
        return breaks['connection closed'](request);
      }
      return number === 1
        ? request.json(503, { error: { message: 'busy' } })
        : finish(request, [text(' two')]);
    },
    { replicas: 3 },
  );
  const answer = await pool.stream();
  t.equal(answer.text, 'One two');
  t.match(answer.last, { x_sluice_attempts: 3 });
});

t.test('a client that leaves after a continuation pays for what it was sent, once', async (t) => {
  const pool = await startPool(t, (request, number) => {
    begin(request, number === 0 ? [text('One'), text(' two')] : [text(' three'), text(' four')]);
    if (number === 0) breaks['connection closed'](request);
  });
  const response = await pool.post({ stream: true });
  let raw = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    raw += decoder.decode(bytes as Uint8Array, { stream: true });
    if (raw.includes(' four')) break; // it leaves
  }
  t.equal(streamed(raw, response).text, 'One two three four');
  t.match(await recorded(pool.events), {
    outcome: 'cancelled',
    quantities: { prompt_tokens: 8, completion_tokens: 4 },
    delivered_tokens: 4,
  });
  t.equal(pool.events.length, 1);
  await pool.engines.find(({ requests }) => requests.at(-1)?.body.includes('continue_final'))?.requests.at(-1)
    ?.gone;
});

t.test('a client that leaves while the rest is waited for', async (t) => {
  const pool = await startPool(
    t,
    (request, number) => {
      if (number > 0) return undefined;
      begin(request, [text('One')]);
      return breaks['connection closed'](request);
    },
    { replicas: 2 },
  );
  const leaving = new AbortController();
  const response = await pool.post({ stream: true }, undefined, leaving.signal);
  const second = await Promise.race(
    pool.engines.map(async (engine) => {
      for (let number = 0; ; number++) {
        const request = await engine.request(number);
        if (request.body.includes('continue_final')) return request;
      }
    }),
  );
  leaving.abort();
  await response.text().catch(() => undefined);
  await second.gone;
  t.match(await recorded(pool.events), { outcome: 'cancelled', quantities: { completion_tokens: 1 } });
});
