/** Checks of conversations: texts, streams, limits, several answers, log-probabilities, thinking, continuation. */
import assert from 'node:assert/strict';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Bench } from '../check.ts';
import { modelIds } from '../config.ts';
import { request } from '../read-json.ts';
import { answers, dice, wave } from '../toys/bigram.ts';

export const user = (content: string) => ({ role: 'user' as const, content });
export const asked = (content: string) => ({
  model: modelIds.writer,
  messages: [user(content)],
  max_tokens: 64,
});
const plain = answers.plain.join('');

/** The texts of a stream and what it ended with. */
export const collected = async (stream: AsyncIterable<ChatCompletionChunk>) => {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    chunks,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.map(({ finish_reason }) => finish_reason).find((reason) => reason !== null),
    usage: chunks.findLast(({ usage }) => usage)?.usage,
  };
};

export const checkChat = async ({ check, client, direct, gateway, server }: Bench): Promise<void> => {
  const { traits } = server;

  await check('chat', async () => {
    const { choices, usage } = await client.chat.completions.create(asked('Hi'));
    assert.equal(choices[0]?.message.content, plain);
    assert.equal(choices[0]?.finish_reason, 'stop');
    const theirs = await direct.chat.completions.create({ ...asked('Hi'), model: 'writer' });
    assert.deepEqual(counts(usage), counts(theirs.usage), 'usage is what the server reports');
  });

  await check('streamed chat', async () => {
    const stream = await client.chat.completions.create({ ...asked('Hi'), stream: true });
    const { chunks, text, finish, usage } = await collected(stream);
    assert.equal(text, plain);
    assert.equal(finish, 'stop');
    const texts = chunks.filter(({ choices: [choice] }) => choice?.delta.content);
    // A busy server joins tokens; that it is streamed at all shows in their number.
    assert.ok(texts.length > 1, `${texts.length} chunks of text`);
    const theirs = await direct.chat.completions.create({
      ...asked('Hi'),
      model: 'writer',
      stream: true,
      stream_options: { include_usage: true },
    });
    assert.deepEqual(counts(usage), counts((await collected(theirs)).usage));
  });

  await check('a character of four tokens', async () => {
    const body = asked(wave.trigger);
    const { choices } = await client.chat.completions.create(body);
    assert.equal(choices[0]?.message.content, wave.text);
    const streamed = await collected(await client.chat.completions.create({ ...body, stream: true }));
    assert.equal(streamed.text, wave.text);
  });

  await check('stop sequences and limits', async () => {
    const stopped = await client.chat.completions.create({ ...asked('[count]'), stop: [' four'] });
    assert.equal(stopped.choices[0]?.message.content, 'one two three');
    assert.equal(stopped.choices[0]?.finish_reason, 'stop');
    const across = await collected(
      await client.chat.completions.create({ ...asked('[count]'), stop: ['ree fo'], stream: true }),
    );
    assert.equal(across.text, 'one two th');
    assert.equal(across.finish, 'stop');
    const cut = await collected(
      await client.chat.completions.create({ ...asked('[count]'), max_tokens: 3, stream: true }),
    );
    assert.equal(cut.text, 'one two three');
    assert.equal(cut.finish, 'length');
    assert.equal(cut.usage?.completion_tokens, 3);
  });

  await check('several answers', async () => {
    const one = await client.chat.completions.create(asked(dice.trigger));
    const { choices, usage } = await client.chat.completions.create({ ...asked(dice.trigger), n: 3 });
    assert.deepEqual(
      choices.map(({ index }) => index),
      [0, 1, 2],
    );
    for (const { message } of choices) assert.ok((message.content ?? '') in dice.sides, `${message.content}`);
    assert.equal(usage?.completion_tokens, 3 * (one.usage?.completion_tokens ?? 0));
    assert.equal(usage?.prompt_tokens, one.usage?.prompt_tokens);
  });

  await check('log-probabilities', async () => {
    const body = { ...asked(dice.trigger), logprobs: true, top_logprobs: 2 };
    const whole = await client.chat.completions.create(body);
    assertDice(whole.choices[0]?.logprobs?.content?.[0]?.top_logprobs);
    const { chunks } = await collected(await client.chat.completions.create({ ...body, stream: true }));
    const [token] = chunks.flatMap(({ choices: [choice] }) => choice?.logprobs?.content ?? []);
    assertDice(token?.top_logprobs);
  });

  await check('JSON schemas', async () => {
    const schema = {
      type: 'object',
      properties: { mood: { type: 'string', enum: ['calm', 'wild'] }, tide: { type: 'boolean' } },
      required: ['mood', 'tide'],
      additionalProperties: false,
    };
    const body = {
      ...asked('The sea?'),
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'sea', strict: true, schema },
      },
    };
    const whole = await client.chat.completions.create(body);
    assertSea(whole.choices[0]?.message.content ?? '');
    assertSea((await collected(await client.chat.completions.create({ ...body, stream: true }))).text);
  });

  await check('responses and messages in front of it', async () => {
    const { output_text: text } = await client.responses.create({ model: modelIds.writer, input: 'Hi' });
    assert.equal(text, plain);
    const body = { model: modelIds.writer, max_tokens: 64, messages: [user('Hi')] };
    const response = await request(`${gateway.origin}/v1/messages`, gateway.key, body);
    const message = (await response.json()) as { content: unknown; stop_reason: string };
    assert.deepEqual(message.content, [{ type: 'text', text: plain }]);
    assert.equal(message.stop_reason, 'end_turn');
  });

  await check('text completions', async () => {
    const body = { model: modelIds.writer, prompt: 'one two', max_tokens: 3 };
    const { choices, usage } = await client.completions.create(body);
    assert.equal(choices[0]?.text, ' three four five');
    assert.equal(usage?.completion_tokens, 3);
  });

  if (traits.reasoning)
    await check('thinking', async () => {
      const body = { ...asked('[think]'), reasoning_effort: 'medium' as const };
      const { choices, usage } = await client.chat.completions.create(body);
      const message = choices[0]?.message as { content: string; reasoning?: string };
      assert.equal(message.reasoning?.trim(), 'Let me see');
      assert.equal(message.content.trim(), 'Done so.');
      assert.ok((usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0);
      const { chunks, text } = await collected(
        await client.chat.completions.create({ ...body, stream: true }),
      );
      const thought = chunks.map(({ choices: [choice] }) => reasoningOf(choice?.delta)).join('');
      assert.equal(thought.trim(), 'Let me see');
      assert.equal(text.trim(), 'Done so.');
    });

  if (traits.continues)
    await check('continuation', async () => {
      const body = {
        ...asked('[count]'),
        messages: [user('[count]'), { role: 'assistant' as const, content: 'one two three' }],
        continue_final_message: true,
        add_generation_prompt: false,
      };
      const rest = ' four five six seven eight nine ten';
      const { choices } = await client.chat.completions.create(body);
      assert.equal(choices[0]?.message.content, rest);
      assert.equal(
        (await collected(await client.chat.completions.create({ ...body, stream: true }))).text,
        rest,
      );
    });

  await check('twelve requests at once', async () => {
    const texts = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const stream = await client.chat.completions.create({ ...asked(`${index} [count]`), stream: true });
        return (await collected(stream)).text;
      }),
    );
    for (const text of texts) assert.equal(text, answers['[count]'].join(''));
  });
};

/** Cached tokens depend on what came before. */
const counts = (
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null,
) => ({
  prompt: usage?.prompt_tokens,
  completion: usage?.completion_tokens,
  total: usage?.total_tokens,
});

const reasoningOf = (delta: object | undefined): string =>
  (delta as { reasoning?: string } | undefined)?.reasoning ?? '';

const assertDice = (top: readonly { token: string; logprob: number }[] | undefined): void => {
  const chances = Object.fromEntries((top ?? []).map(({ token, logprob }) => [token, logprob]));
  for (const [side, chance] of Object.entries(dice.sides))
    assert.ok(
      Math.abs((chances[side] ?? 0) - Math.log(chance)) < 1e-3,
      `${side} has ${chances[side]}, not ${Math.log(chance)}`,
    );
};

const assertSea = (text: string): void => {
  const sea = JSON.parse(text) as { mood: string; tide: unknown };
  assert.deepEqual(Object.keys(sea).sort(), ['mood', 'tide']);
  assert.ok(['calm', 'wild'].includes(sea.mood), text);
  assert.equal(typeof sea.tide, 'boolean');
};
