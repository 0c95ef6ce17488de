/** Checks of a server's own Messages API, through the wire for it. */
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import type { Bench } from '../check.ts';
import { modelIds } from '../config.ts';
import { answers } from '../toys/bigram.ts';
import { asked, collected, user } from './chat.ts';

const plain = answers.plain.join('');

export const checkMessages = async ({ check, client, gateway }: Bench): Promise<void> => {
  const model = modelIds.messages;
  const anthropic = new Anthropic({
    baseURL: gateway.origin,
    apiKey: gateway.key,
    maxRetries: 0,
    timeout: 120_000,
  });
  const tools = [
    {
      name: 'get_weather',
      input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ];

  await check('Messages API: chat', async () => {
    const { choices, usage } = await client.chat.completions.create({ ...asked('Hi'), model });
    assert.equal(choices[0]?.message.content, plain);
    assert.equal(choices[0]?.finish_reason, 'stop');
    assert.ok((usage?.prompt_tokens ?? 0) > 0 && (usage?.completion_tokens ?? 0) > 0, JSON.stringify(usage));
    const stream = await client.chat.completions.create({ ...asked('[count]'), model, stream: true });
    const { text, finish } = await collected(stream);
    assert.equal(text, answers['[count]'].join(''));
    assert.equal(finish, 'stop');
  });

  await check('Messages API: messages', async () => {
    const body = { model, max_tokens: 64, messages: [user('[count]')], stop_sequences: [' four'] };
    const message = await anthropic.messages.create(body);
    assert.equal(message.content[0]?.type === 'text' && message.content[0].text, 'one two three');
    assert.equal(message.stop_reason, 'stop_sequence');
    assert.equal(message.stop_sequence, ' four');
    const streamed = await anthropic.messages.stream({ ...body, max_tokens: 2 }).finalMessage();
    assert.equal(streamed.content[0]?.type === 'text' && streamed.content[0].text, 'one two');
    assert.equal(streamed.stop_reason, 'max_tokens');
    assert.equal(streamed.usage.output_tokens, 2);
  });

  await check('Messages API: tools', async () => {
    const body = { model, max_tokens: 64, messages: [user('[call]')], tools };
    for (const message of [
      await anthropic.messages.create(body),
      await anthropic.messages.stream(body).finalMessage(),
    ]) {
      const uses = message.content.filter((block) => block.type === 'tool_use');
      assert.deepEqual(
        uses.map(({ name, input }) => ({ name, input })),
        [{ name: 'get_weather', input: { city: 'Oslo' } }],
      );
      assert.equal(message.stop_reason, 'tool_use');
    }
  });
};
