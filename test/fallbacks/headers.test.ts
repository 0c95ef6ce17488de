/** Tests the headers and the log line that say how a request was served, on both HTTP servers. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { eventually } from '../eventually.ts';
import { servers } from '../http/servers.ts';
import { answer, asked, other, type Site, startSite } from './fixtures.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const limits = { concurrency: 3, requests_per_minute: 5 };

/** Those of this feature alone. */
const ours = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) => /^(x-sluice-|x-ratelimit-|anthropic-ratelimit-)/.test(name)),
  );

const milliseconds = /^\d+\.\d$/;

const start = (t: Test, edge: string, env: Readonly<Record<string, string>> = {}): Promise<Site> =>
  startSite(t, answer('Hello'), {
    row: { limits },
    models: { 'test/simulated': { engine: 'simulator', context_length: 8192 } },
    env: { SLUICE_EDGE: edge, ...env },
  });

for (const { name, skip } of servers)
  t.test(name, { skip }, async (t) => {
    t.test('a whole response, a stream and the messages format', async (t) => {
      const site = await start(t, name);
      const { url, root, key } = site.gateway;
      const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
      const { response } = await client.chat.completions.create({ model: asked, messages }).withResponse();
      t.match(ours(response.headers), {
        'x-sluice-replica': 'sick/0',
        'x-sluice-attempts': '1',
        'x-sluice-queue-ms': '0.0',
        'x-sluice-engine-ms': milliseconds,
        'x-sluice-overhead-ms': milliseconds,
        'x-sluice-cached-tokens': '4',
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-remaining-requests': '4',
        'x-ratelimit-reset-requests': /^(1m0s|\d\ds)$/,
      });
      t.equal(Object.keys(ours(response.headers)).length, 9);

      const streamed = await client.chat.completions
        .create({ model: asked, messages, stream: true })
        .withResponse();
      for await (const _ of streamed.data);
      t.match(ours(streamed.response.headers), {
        'x-sluice-replica': 'sick/0',
        'x-sluice-attempts': '1',
        'x-ratelimit-remaining-requests': '3',
      });
      t.notOk(streamed.response.headers.has('x-sluice-cached-tokens'), 'they are not known yet');

      const anthropic = new Anthropic({ baseURL: root, apiKey: key, maxRetries: 0 });
      const said = await anthropic.messages.create({ model: asked, max_tokens: 9, messages }).withResponse();
      t.match(ours(said.response.headers), {
        'x-sluice-replica': 'sick/0',
        'x-sluice-cached-tokens': '4',
        'anthropic-ratelimit-requests-limit': '5',
        'anthropic-ratelimit-requests-remaining': '2',
        'anthropic-ratelimit-requests-reset': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      });
      const reset = Date.parse(said.response.headers.get('anthropic-ratelimit-requests-reset') ?? '');
      t.ok(reset > Date.now() && reset <= Date.now() + 62_000, 'in a minute');
      t.notOk(said.response.headers.has('x-ratelimit-limit-requests'));
    });

    t.test('a fallback, an error and a limit', async (t) => {
      const site = await start(t, name);
      site.sick.script = (request) => request.json(500, {});
      const handed = await site.post('/chat/completions', { model: asked, messages });
      t.match(ours(handed.headers), {
        'x-sluice-replica': 'well/0',
        'x-sluice-attempts': '2',
        'x-ratelimit-remaining-requests': '4',
      });
      site.well.script = (request) => request.json(500, {});
      const failed = await site.post('/chat/completions', { model: asked, messages });
      t.equal(failed.status, 502);
      t.match(ours(failed.headers), { 'x-sluice-attempts': '2', 'x-ratelimit-remaining-requests': '3' });
      for (const _ of [1, 2, 3]) await site.post('/chat/completions', { model: asked, messages });
      const refused = await site.post('/chat/completions', { model: asked, messages });
      t.equal(refused.status, 429);
      t.match(ours(refused.headers), {
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': /^(1m0s|\d\ds)$/,
      });
      t.equal(Object.keys(ours(refused.headers)).length, 3);
      const anthropic = await site.post('/messages', { model: asked, max_tokens: 9, messages });
      t.equal(anthropic.status, 429);
      t.match(ours(anthropic.headers), { 'anthropic-ratelimit-requests-remaining': '0' });
      await site.billed(5);
      t.match(
        site.logged('request').filter(({ route }) => route === '/chat/completions'),
        [{ model: other, requested_model: asked, attempts: 2 }],
      );
    });

    t.test('tokens, where they are limited', async (t) => {
      const site = await startSite(t, answer('Hello'), {
        row: { limits: { ...limits, tokens_per_minute: 6000, completion_tokens_per_minute: 90 } },
        env: { SLUICE_EDGE: name },
      });
      const { root, key } = site.gateway;
      const first = await site.post('/chat/completions', { model: asked, messages, max_tokens: 20 });
      t.match(ours(first.headers), {
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-limit-tokens': '90',
        'x-ratelimit-remaining-tokens': '70',
        'x-ratelimit-reset-tokens': '1m0s',
      });
      await site.billed(1);
      const anthropic = new Anthropic({ baseURL: root, apiKey: key, maxRetries: 0 });
      const said = await anthropic.messages.create({ model: asked, max_tokens: 30, messages }).withResponse();
      const left = Number(said.response.headers.get('anthropic-ratelimit-tokens-remaining'));
      t.ok(left > 40 && left < 60, `${left}: what the first one used, not what it had reserved`);
      t.match(ours(said.response.headers), {
        'anthropic-ratelimit-tokens-limit': '90',
        'anthropic-ratelimit-tokens-reset': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      });
      const refused = await site.post('/chat/completions', { model: asked, messages, max_tokens: 89 });
      t.equal(refused.status, 429);
      t.match(ours(refused.headers), {
        'x-ratelimit-remaining-requests': '2',
        'x-ratelimit-limit-tokens': '90',
        'x-ratelimit-remaining-tokens': /^\d\d$/,
      });
      t.notOk(refused.headers.has('x-ratelimit-reset-tokens'), 'not known');
    });

    t.test('what they do not say', async (t) => {
      const site = await start(t, name);
      const simulated = await site.post('/chat/completions', { model: 'test/simulated', messages });
      t.strictSame(
        Object.keys(ours(simulated.headers)).filter((header) => header.startsWith('x-sluice-')),
        ['x-sluice-cached-tokens', 'x-sluice-queue-ms'],
        'an engine without replicas',
      );
      const listed = await fetch(`${site.gateway.url}/models`);
      t.strictSame(ours(listed.headers), {}, 'a route without limits');
      const invalid = await site.post('/chat/completions', { model: asked, messages: [] });
      t.equal(invalid.status, 400);
      t.strictSame(ours(invalid.headers), {}, 'not admitted');
      const text = JSON.stringify([...simulated.headers]);
      t.notMatch(text, /127\.0\.0\.1|:\d{4}/, 'no address');
    });

    t.test('a page of another origin can read all of them', async (t) => {
      const site = await start(t, name);
      const chat = { model: asked, messages };
      const get = (path: string) => fetch(site.gateway.url + path);
      const responses = [
        [200, await site.post('/chat/completions', chat)],
        [200, await site.post('/chat/completions', { ...chat, stream: true })],
        [200, await site.post('/messages', { ...chat, max_tokens: 9 })],
        [400, await site.post('/chat/completions', { ...chat, messages: [] })],
        [401, await get('/usage')],
        [405, await get('/chat/completions')],
        ...(await Promise.all(
          [1, 2].map(async () => [200, await site.post('/chat/completions', chat)] as const),
        )),
        [429, await site.post('/chat/completions', chat)],
        [429, await site.post('/messages', { ...chat, max_tokens: 9 })],
      ] as const;
      for (const [status, response] of responses) {
        await response.text();
        t.equal(response.status, status);
        t.match(response.headers.get('access-control-expose-headers'), /, \*$/, `${status} ${response.url}`);
      }
    });

    t.test('switched off', async (t) => {
      const off = await start(t, name, { SLUICE_RESPONSE_HEADERS: 'off' });
      t.strictSame(ours((await off.post('/chat/completions', { model: asked, messages })).headers), {});
      const some = await start(t, name, { SLUICE_RESPONSE_HEADERS: 'limits' });
      t.strictSame(
        Object.keys(ours((await some.post('/chat/completions', { model: asked, messages })).headers)),
        ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
      );
    });

    t.test('queues', async (t) => {
      const site = await startSite(t, () => undefined, {
        engine: { concurrency: 1, timeouts: {} },
        row: { limits },
        env: { SLUICE_EDGE: name },
      });
      const first = site.post('/chat/completions', { model: asked, messages });
      const one = await site.sick.request(0);
      const second = site.post('/chat/completions', { model: asked, messages });
      await eventually(async () => (await site.metric('sluice_engine_waiting{engine="sick"}')) === 1);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      site.sick.script = answer('Hello');
      await answer('Hello')(one);
      await first;
      const { headers } = await second;
      const [queue, overhead] = ['queue', 'overhead'].map((of) => Number(headers.get(`x-sluice-${of}-ms`)));
      t.ok(
        queue !== undefined && overhead !== undefined && queue >= 900 && overhead < queue,
        'which is not overhead',
      );
    });

    t.test('the log', async (t) => {
      const site = await start(t, name);
      await site.post('/chat/completions', { model: asked, messages });
      await eventually(() => site.logged('request').length === 1);
      const [line] = site.logged('request');
      t.match(line, {
        method: 'POST',
        route: '/chat/completions',
        status: 200,
        model: asked,
        subscription: /^sub_/,
        key: /^key_/,
        replica: 'sick/0',
        attempts: 1,
        queue_ms: 0,
        engine_ms: Number,
        overhead_ms: Number,
        outcome: 'completed',
        prompt_tokens: 10,
        completion_tokens: 4,
        cached_tokens: 4,
        cost: '0.018',
      });
      t.notOk('requested_model' in (line ?? {}));
      t.notMatch(JSON.stringify(line), /127\.0\.0\.1/);
    });
  });
