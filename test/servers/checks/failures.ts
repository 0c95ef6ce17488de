/** Checks of what goes wrong: clients that leave, prompts that are too long, keys, replicas that die. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { APIError } from 'openai';
import { eventually } from '../../eventually.ts';
import type { Bench } from '../check.ts';
import { continuesStreams, modelIds } from '../config.ts';
import { readJson, request } from '../read-json.ts';
import { answers, endless } from '../toys/bigram.ts';
import { asked, collected } from './chat.ts';

const plain = answers.plain.join('');
/** The time in which a server has to notice that nobody reads any more, under load. */
const noticeSeconds = 10;

/** Greedy: sampling ends the two words by chance, sooner where a server penalizes repetition. */
const endlesslyIn = (window: number) => ({
  ...asked(endless.trigger),
  max_tokens: window - 512,
  temperature: 0,
});

export const checkFailures = async (bench: Bench): Promise<void> => {
  const { check, client, gateway, server, writers } = bench;
  const endlessly = endlesslyIn(server.window);
  const running = async () => {
    const counts = await Promise.all(writers.map((replica) => server.running(replica)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const isIdle = () =>
    eventually(
      async () => {
        if (server.pollSeconds !== undefined) await delay(server.pollSeconds * 1000);
        return (await running()) === 0;
      },
      'the server is idle',
      noticeSeconds,
    );
  const isBusy = () => eventually(async () => (await running()) > 0, 'the server is busy', noticeSeconds);

  await check('a client leaves a stream', async () => {
    await isIdle();
    const stream = await client.chat.completions.create({ ...endlessly, stream: true });
    let chunks = 0;
    for await (const { choices } of stream) {
      assert.equal(choices[0]?.finish_reason ?? null, null, 'it did not end by itself');
      if (++chunks > 20) break;
    }
    stream.controller.abort();
    await isIdle();
  });

  await check('a client leaves before the answer', async () => {
    const left = new AbortController();
    const answer = request(`${gateway.origin}/v1/chat/completions`, gateway.key, endlessly, left.signal);
    const ended = answer.then(
      () => 'answered',
      () => 'left',
    );
    assert.equal(await Promise.race([ended, isBusy().then(() => 'busy')]), 'busy');
    left.abort();
    assert.equal(await ended, 'left');
    await isIdle();
  });

  if (server.traits.refusesLongPrompts)
    for (const stream of [false, true])
      await check(`an overlong prompt${stream ? ', streamed' : ''}`, async () => {
        // More bytes than the server's window has tokens, and a row that promises more: the server refuses.
        const content = 'x y z '.repeat(server.window / 5);
        const body = { ...asked(content), model: modelIds.wide, stream };
        const error = await refusal(client.chat.completions.create(body));
        assert.equal(error.status, 400);
        assert.match(error.message, /prompt is too long: \d+ tokens > \d+ maximum/);
      });

  await check('a request that the server refuses', async () => {
    const schema = { type: 'object', properties: { mood: { type: 'nonsense' } } };
    const body = {
      ...asked('Hi'),
      response_format: { type: 'json_schema' as const, json_schema: { name: 'sea', schema } },
    };
    const error = await refusal(client.chat.completions.create(body));
    assert.equal(error.status, 400, error.message);
    const again = await client.chat.completions.create(asked('Hi'));
    assert.equal(again.choices[0]?.message.content, plain, 'the replicas are not ejected for it');
  });

  if (server.traits.keys)
    await check('a wrong key of the engine', async () => {
      const error = await refusal(client.chat.completions.create({ ...asked('Hi'), model: modelIds.locked }));
      assert.equal(error.status, 502);
    });
};

/** The last checks: afterwards no replica is left. */
export const checkFailover = async ({ check, client, gateway, server, writers }: Bench): Promise<void> => {
  const endlessly = endlesslyIn(server.window);
  let [survivor, victim] = writers;
  const billed = (id: string) =>
    eventually(async () => {
      const { data } = await readJson<{
        data: readonly { request_id: string; outcome: string; cost: string; completion_tokens: number }[];
      }>(`${gateway.origin}/v1/usage?group_by=request&limit=1000`, gateway.key);
      return data.find(({ request_id }) => request_id === id);
    }, 'the usage event');

  if (continuesStreams(server))
    await check('a replica is killed in the middle of a stream, and the other goes on', async () => {
      const limit = 800;
      const response = await request(`${gateway.origin}/v1/chat/completions`, gateway.key, {
        ...endlessly,
        max_tokens: limit,
        stream: true,
      });
      const serving = Number(response.headers.get('x-sluice-replica')?.split('/').at(-1));
      if (serving === 0) [victim, survivor] = writers;
      let text = '';
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) {
        const before = text.split('\n\n').length;
        text += decoder.decode(bytes as Uint8Array, { stream: true });
        if (before <= 20 && text.split('\n\n').length > 20) await victim?.kill();
      }
      const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json));
      const said: string = events.map(({ choices }) => choices[0]?.delta?.content ?? '').join('');
      const last = events.at(-1);
      assert.match(said, /^( tick tock)+( tick)?$/, 'no word twice, none missing');
      assert.deepEqual([last.x_sluice_attempts, last.error], [2, undefined], text.slice(-500));
      assert.equal(events.findLast(({ choices }) => choices.length > 0).choices[0].finish_reason, 'length');
      const words = said.trim().split(' ').length;
      // The toy's vocabulary is not the one that the gateway counts by: up to two tokens for each of its words.
      assert.ok(words <= limit && words > limit / 2, `${words} words of ${limit}`);
      assert.ok(last.usage.completion_tokens <= limit, `${last.usage.completion_tokens} tokens of ${limit}`);
      const event = await billed(response.headers.get('x-request-id') ?? '');
      assert.deepEqual([event.outcome, event.completion_tokens], ['completed', last.usage.completion_tokens]);
    });

  await check('a replica is killed between requests', async () => {
    await victim?.kill();
    for (let number = 0; number < 8; number++) {
      const { choices } = await client.chat.completions.create(asked('Hi'));
      assert.equal(choices[0]?.message.content, plain);
    }
    const texts = await Promise.all(
      Array.from({ length: 8 }, async () =>
        collected(await client.chat.completions.create({ ...asked('[count]'), stream: true })),
      ),
    );
    for (const { text } of texts) assert.equal(text, answers['[count]'].join(''));
  });

  await check('the other is killed in the middle of a stream', async () => {
    const response = await request(`${gateway.origin}/v1/chat/completions`, gateway.key, {
      ...endlessly,
      stream: true,
      // Never continued: on a busy machine the words so far may be counted as all that were asked for.
      ...(continuesStreams(server) && { logprobs: true }),
    });
    assert.equal(response.status, 200);
    const id = response.headers.get('x-request-id') ?? '';
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      if (text.split('\n\n').length > 20 && !text.includes('"error"')) await survivor?.kill();
    }
    const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
    const failure = JSON.parse(events.find((event) => event.includes('"error"'))?.slice(6) ?? '{}') as {
      error?: { code: unknown; message: string };
      choices?: readonly { finish_reason: string }[];
    };
    assert.equal(failure.error?.code, 502, `${events.length} events: ${text.slice(-500)}`);
    assert.equal(failure.choices?.[0]?.finish_reason, 'error');
    assert.equal(events.at(-1), 'data: [DONE]');
    const { outcome, cost } = await billed(id);
    assert.deepEqual([outcome, cost], ['failed', '0']);
  });

  await check('no replica is left', async () => {
    const error = await refusal(client.chat.completions.create(asked('Hi')));
    assert.ok(error.status === 502 || error.status === 503, `${error.status}`);
  });
};

const refusal = async (answer: PromiseLike<unknown>): Promise<APIError> => {
  try {
    await answer;
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
  throw new Error('it was answered');
};
