/** Tests limits of keys and limits on tokens: refused at once, exact under concurrent calls, settled with real usage. */
import t from 'tap';
import { createLimitsManagement } from '../../src/limits/manage.ts';
import { eventually } from '../eventually.ts';
import { startBudgetGateway } from './client.ts';

const { gateway, newKey, chat, post } = await startBudgetGateway();
t.teardown(() => gateway.stop());

t.test('requests per minute of a key', async (t) => {
  const { secret } = await newKey({ limits: { requests_per_minute: 2 } });
  t.equal((await chat(secret)).status, 200);
  t.equal(
    (
      await post(secret, '/messages/count_tokens', {
        model: 'sluice/chat',
        messages: [{ role: 'user', content: 'Hi' }],
      })
    ).status,
    200,
  );
  const refused = await chat(secret);
  t.match(refused.retryAfter, /^([1-9]|[1-5]\d|60)$/);
  t.strictSame(refused, {
    status: 429,
    retryAfter: refused.retryAfter,
    shouldRetry: null,
    body: {
      error: {
        code: 429,
        message: 'The limit of 2 requests per minute of this API key is reached: 0 left',
        type: 'rate_limit_error',
        param: null,
        metadata: {
          error_type: 'rate_limit_exceeded',
          limit: {
            kind: 'requests_per_minute',
            scope: 'key',
            limit: 2,
            remaining: 0,
            resets_at: (refused.body as { error: { metadata: { limit: { resets_at: number } } } }).error
              .metadata.limit.resets_at,
          },
        },
      },
    },
  });
});

t.test('requests at once of a key', async (t) => {
  const { secret } = await newKey({ limits: { concurrency: 1 } });
  const stopping = new AbortController();
  const running = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    signal: stopping.signal,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sluice/chat',
      stream: true,
      messages: [{ role: 'user', content: '/sim tokens=1000 rate=20/s\nHello' }],
    }),
  });
  t.equal(running.status, 200);
  t.match(await chat(secret), {
    status: 429,
    retryAfter: '1',
    shouldRetry: null,
    body: {
      error: {
        message: 'The limit of 1 requests at once of this API key is reached: 0 left',
        metadata: { limit: { kind: 'concurrency', scope: 'key', limit: 1, remaining: 0, resets_at: null } },
      },
    },
  });
  stopping.abort();
  await eventually(async () => (await chat(secret)).status === 200, 'the slot is free again');
});

t.test('tokens per minute of a key', async (t) => {
  const { secret } = await newKey({ limits: { tokens_per_minute: 1000 } });
  const replies = await Promise.all(Array.from({ length: 10 }, () => chat(secret)));
  const done = replies.filter(({ status }) => status === 200);
  t.ok(done.length > 0 && done.length < 10, `${done.length} of 10 at once: what each may use is reserved`);
  let used = 0;
  const add = (body: unknown): void => {
    used += (body as { usage: { total_tokens: number } }).usage.total_tokens;
  };
  for (const { body } of done) add(body);
  let last = await chat(secret);
  for (; last.status === 200; last = await chat(secret)) add(last.body);
  t.ok(used <= 1000, `${used} of 1000`);
  t.match(last, {
    status: 429,
    retryAfter: /^([1-9]|[1-5]\d|60)$/,
    shouldRetry: null,
    body: {
      error: {
        message: new RegExp(
          `^The limit of 1000 tokens per minute of this API key is reached: ${1000 - used} left, this request could take \\d+$`,
        ),
        metadata: { limit: { kind: 'tokens_per_minute', scope: 'key', limit: 1000, remaining: 1000 - used } },
      },
    },
  });
});

t.test('a request that is larger than a limit is not worth a retry', async (t) => {
  const { secret } = await newKey({ limits: { completion_tokens_per_minute: 100 } });
  t.match(await chat(secret, { max_tokens: 101 }), {
    status: 429,
    retryAfter: null,
    shouldRetry: 'false',
    body: {
      error: {
        message:
          'This request could take 101 tokens, more than the limit of 100 completion tokens per minute of this API key',
      },
    },
  });
  t.match(await chat(secret, { max_tokens: 100 }), { status: 200 });
});

t.test('a prompt is counted before it is refused for its bytes', async (t) => {
  const words = 'water '.repeat(200);
  const { secret } = await newKey({ limits: { tokens_per_minute: 1000 } });
  const chatted = await chat(secret, { messages: [{ role: 'user', content: `/sim tokens=1\n${words}` }] });
  t.equal(chatted.status, 200, JSON.stringify(chatted.body));
  const embedding = await newKey({ limits: { prompt_tokens_per_minute: 1000 } });
  const embed = (input: string) => post(embedding.secret, '/embeddings', { model: 'sluice/embed', input });
  t.equal((await embed(words)).status, 200);
  t.match(await embed('water '.repeat(1100)), {
    status: 429,
    shouldRetry: 'false',
    body: { error: { message: /^This request could take 1\d\d\d tokens, more than the limit of 1000 / } },
  });
});

t.test('prompt tokens of a subscription and a model', async (t) => {
  const limits = createLimitsManagement(gateway.ports.state);
  await limits.set('sub_default', 'sluice/embed', { prompt_tokens_per_minute: 300 });
  const { secret } = await newKey();
  const embed = (input: string) => post(secret, '/embeddings', { model: 'sluice/embed', input });
  const refused = await eventually(async () => {
    const reply = await embed('a '.repeat(400));
    return reply.status === 429 && reply;
  }, 'the gateway knows the limit');
  t.match(refused, {
    shouldRetry: 'false',
    body: {
      error: {
        metadata: {
          limit: {
            kind: 'prompt_tokens_per_minute',
            scope: 'subscription',
            model: 'sluice/embed',
            limit: 300,
          },
        },
      },
    },
  });
  t.equal((await chat(secret)).status, 200, 'other models are not limited');
  await limits.clear('sub_default', undefined);
});
