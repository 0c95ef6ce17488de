/** Tests that fallbacks take over from an engine in trouble, through openai and @anthropic-ai/sdk. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { Script } from '../engines/scripted-engine.ts';
import { someOf } from '../long.ts';
import { thrownBy } from '../thrown-by.ts';
import { answer, asked, other, type Site, startSite } from './fixtures.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

interface Said {
  readonly text: string;
  readonly model: string;
}

/** Every way to ask for a conversation. */
const ways: Readonly<Record<string, (site: Site) => Promise<Said>>> = {
  'chat, whole': async ({ gateway }) => {
    const { model, choices } = await openai(gateway).chat.completions.create({ model: asked, messages });
    return { text: choices[0]?.message.content ?? '', model };
  },
  'chat, streamed': async ({ gateway }) => {
    const stream = await openai(gateway).chat.completions.create({ model: asked, messages, stream: true });
    const models = new Set<string>();
    let text = '';
    for await (const { model, choices } of stream) {
      models.add(model);
      text += choices[0]?.delta.content ?? '';
    }
    return { text, model: [...models].join() };
  },
  'completions, whole': async ({ gateway }) => {
    const { model, choices } = await openai(gateway).completions.create({ model: asked, prompt: 'Hi' });
    return { text: choices[0]?.text ?? '', model };
  },
  'responses, whole': async ({ gateway }) => {
    const { model, output_text } = await openai(gateway).responses.create({ model: asked, input: 'Hi' });
    return { text: output_text, model };
  },
  'responses, streamed': async ({ gateway }) => {
    const stream = await openai(gateway).responses.create({ model: asked, input: 'Hi', stream: true });
    const models = new Set<string>();
    let text = '';
    for await (const each of stream) {
      if (each.type === 'response.output_text.delta') text += each.delta;
      if ('response' in each) models.add(each.response.model);
    }
    return { text, model: [...models].join() };
  },
  'messages, whole': async ({ gateway }) => {
    const { model, content } = await anthropic(gateway).messages.create({
      model: asked,
      max_tokens: 64,
      messages,
    });
    return { text: content[0]?.type === 'text' ? content[0].text : '', model };
  },
  'messages, streamed': async ({ gateway }) => {
    const stream = anthropic(gateway).messages.stream({ model: asked, max_tokens: 64, messages });
    const { model, content } = await stream.finalMessage();
    return { text: content[0]?.type === 'text' ? content[0].text : '', model };
  },
};

const openai = ({ url, key }: Site['gateway']) => new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
const anthropic = ({ root, key }: Site['gateway']) =>
  new Anthropic({ baseURL: root, apiKey: key, maxRetries: 0 });

/** A completion is text, where a chat is a message. */
const complete: Script = (request) => {
  if (!request.head.includes('/completions') || request.head.includes('/chat/completions')) {
    void answer('Hello')(request);
    return;
  }
  request.json(200, {
    id: 'c',
    object: 'text_completion',
    choices: [{ index: 0, text: 'Hello', finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
  });
};

const troubles: Readonly<Record<string, { script: Script; reason: string; timeouts?: object }>> = {
  'a server error': { script: (request) => request.json(500, {}), reason: 'server_error' },
  'an overloaded engine': { script: (request) => request.json(503, {}), reason: 'server_error' },
  'a broken connection': { script: (request) => request.reset(), reason: 'down' },
  // Of a whole answer only the whole is limited.
  'no first byte in time': {
    script: () => undefined,
    reason: 'timeout',
    timeouts: { first_byte: '400ms', total: '1s' },
  },
};

for (const [trouble, { script, reason, timeouts }] of someOf(Object.entries(troubles), 3))
  t.test(`${trouble}: the fallback answers, and it is billed`, async (t) => {
    const breaker = { connection_failures: 1000, server_failures: 1000 };
    const site = await startSite(t, script, {
      engine: { circuit_breaker: breaker, ...(timeouts && { timeouts }) },
    });
    site.well.script = complete;
    let count = 0;
    for (const [way, ask] of someOf(Object.entries(ways), 3)) {
      t.strictSame(await ask(site), { text: 'Hello', model: other }, way);
      count++;
      const rows = await site.billed(count);
      t.equal(rows.length, count, `${way}: one event`);
      t.match(rows.at(-1), {
        model: other,
        requested_model: asked,
        outcome: 'completed',
        status: 200,
        prompt_tokens: 10,
        completion_tokens: 4,
        cost: '0.00018',
      });
    }
    const metrics = ['down', 'queue_full', 'timeout', 'server_error'].map((each) =>
      site.metric(`sluice_fallbacks_total{from="${asked}",to="${other}",reason="${each}"}`),
    );
    t.equal(
      (await Promise.all(metrics)).reduce((sum, value) => sum + value, 0),
      count,
      'each is counted once',
    );
    t.match(site.logged('model fallback')[0], { model: asked, fallback: other, reason, level: 40 });
    t.equal(site.logged('model fallback').length, count);
  });

t.test('an engine that is gone', async (t) => {
  const site = await startSite(t, () => undefined);
  await site.sick.close();
  for (const _ of [1, 2, 3, 4])
    t.strictSame(await ways['chat, streamed']?.(site), { text: 'Hello', model: other });
  t.match(
    site.logged('model fallback').map(({ reason }) => reason),
    ['down', 'down', 'down', 'down'],
    'unreachable, then ejected',
  );
});

t.test('a full queue', async (t) => {
  const site = await startSite(t, () => undefined, {
    engine: { concurrency: 1, queue: { length: 0 }, timeouts: { first_byte: '30s' } },
  });
  const held = site.post('/chat/completions', { model: asked, messages });
  await site.sick.request(0);
  t.strictSame(await ways['chat, whole']?.(site), { text: 'Hello', model: other });
  t.match(site.logged('model fallback')[0], { reason: 'queue_full' });
  const request = await site.sick.request(0);
  await answer('At last')(request);
  const { model } = (await (await held).json()) as { model: string };
  t.equal(model, asked, 'the one that had the slot was not handed over');
});

t.test('a wait in the queue that is too long', async (t) => {
  const site = await startSite(t, () => undefined, {
    engine: { concurrency: 1, queue: { wait: '200ms' }, timeouts: { first_byte: '30s' } },
  });
  const aborted = new AbortController();
  const held = fetch(`${site.gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: asked, messages }),
    signal: aborted.signal,
  });
  await site.sick.request(0);
  t.strictSame(await ways['messages, streamed']?.(site), { text: 'Hello', model: other });
  t.match(site.logged('model fallback')[0], { reason: 'queue_full' });
  aborted.abort();
  await t.rejects(held);
});

t.test('an answer of 4xx is passed on, and nobody else is asked', async (t) => {
  const site = await startSite(t, (request) =>
    request.json(400, { error: { message: 'temperature is odd' } }),
  );
  for (const [status, expected] of [
    [400, 400],
    [413, 400],
    [422, 400],
    [401, 502],
    [404, 502],
    [429, 503],
  ] as const) {
    site.sick.script = (request) => request.json(status, { error: { message: 'no' } });
    const before = site.sick.requests.length;
    const error = await thrownBy(openai(site.gateway).chat.completions.create({ model: asked, messages }));
    t.equal((error as { status?: number }).status, expected, String(status));
    t.equal(site.sick.requests.length, before + 1, 'it is not repeated');
  }
  t.equal(site.well.requests.length, 0);
  t.strictSame(site.logged('model fallback'), []);
  const rows = await site.billed(6);
  t.match(
    rows.map(({ model, outcome, cost }) => ({ model, outcome, cost })),
    rows.map(() => ({ model: asked, outcome: 'failed', cost: '0' })),
  );
});

t.test('an answer that has begun is not handed over', async (t) => {
  const site = await startSite(t, (request) => {
    request.streamHead();
    request.chunk(
      'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n',
    );
    setTimeout(() => request.reset(), 50);
  });
  const response = await site.post('/chat/completions', { model: asked, messages, stream: true });
  const text = await response.text();
  t.match(text, /"content":"Hel"/);
  t.match(text, /"finish_reason":"error"/);
  t.notMatch(text, other);
  t.equal(site.well.requests.length, 0);
  t.match(await site.billed(1), [{ model: asked, outcome: 'failed', cost: '0' }]);
});

t.test('where nobody answers, the error is that of the model asked for', async (t) => {
  const site = await startSite(t, (request) => request.json(500, {}));
  site.well.script = (request) => request.json(503, {});
  const response = await site.post('/chat/completions', { model: asked, messages });
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 502, message: 'The engine could not answer' } });
  const rows = await site.billed(1);
  t.match(rows, [{ model: asked, outcome: 'failed', status: 502, cost: '0' }]);
  t.equal(rows[0]?.requested_model, undefined);
});

t.test('the list is followed in its order, then those of its members', async (t) => {
  const dead = { context_length: 8192, engine: 'sick' };
  const site = await startSite(t, (request) => request.json(500, {}), {
    row: { fallbacks: ['test/second', 'test/third'] },
    models: {
      'test/second': { ...dead, served_as: 'second', fallbacks: [other] },
      'test/third': { ...dead, served_as: 'third' },
    },
  });
  t.strictSame(await ways['chat, whole']?.(site), { text: 'Hello', model: other });
  t.strictSame(
    site.sick.requests.map(({ body }) => (JSON.parse(body) as { model: string }).model),
    ['big', 'second', 'third'],
  );
  t.match(await site.billed(1), [{ model: other, requested_model: asked }]);
});

t.test('a fallback that cannot take the request is skipped', async (t) => {
  const small = { engine: 'well', served_as: 'tiny', context_length: 64 };
  const site = await startSite(t, (request) => request.json(500, {}), {
    row: { input_modalities: ['text', 'image'], fallbacks: ['test/tiny', other] },
    models: { 'test/tiny': small },
  });
  const long = [{ role: 'user', content: 'many words '.repeat(200) }];
  const first = await site.post('/chat/completions', { model: asked, messages: long });
  t.match(await first.json(), { model: other });
  t.match(site.logged('model fallback skipped'), [{ model: asked, fallback: 'test/tiny' }]);

  const pixel =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
  const seen = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: pixel } }] }];
  const second = await site.post('/chat/completions', { model: asked, messages: seen });
  t.equal(second.status, 502, 'neither reads images');
  t.equal(site.well.requests.length, 1);
});

t.test('the request is read for the model that answers', async (t) => {
  const site = await startSite(t, (request) => request.json(500, {}), {
    row: { default_parameters: { temperature: 0.1 }, forward: ['min_p'], max_completion_tokens: 4096 },
    otherRow: { default_parameters: { top_p: 0.5 }, max_completion_tokens: 16 },
  });
  await site.post('/chat/completions', { model: asked, messages, max_tokens: 1000 });
  t.match(JSON.parse(site.sick.requests[0]?.body ?? '{}'), {
    model: 'big',
    temperature: 0.1,
    max_tokens: 1000,
  });
  const sent = JSON.parse(site.well.requests[0]?.body ?? '{}') as Record<string, unknown>;
  t.match(sent, { model: 'small', top_p: 0.5, max_tokens: 16 });
  t.not(sent.temperature, 0.1);

  const odd = await site.post('/chat/completions', { model: asked, messages, min_p: 0.2 });
  t.equal(odd.status, 502, 'a field that the fallback does not take');
  t.match(site.logged('model fallback skipped'), [{ fallback: other }]);
});

t.test('limits are those of the model asked for', async (t) => {
  const site = await startSite(t, (request) => request.json(500, {}), {
    row: { limits: { concurrency: 10, requests_per_minute: 2 } },
    otherRow: { limits: { concurrency: 10, requests_per_minute: 1 } },
  });
  const ask = async () => (await site.post('/chat/completions', { model: asked, messages })).status;
  t.strictSame([await ask(), await ask(), await ask()], [200, 200, 429]);
});
