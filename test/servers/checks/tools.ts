/** Checks of tool calls: those the model makes, those it is made to make, and what follows a result. */
import assert from 'node:assert/strict';
import type OpenAI from 'openai';
import type {
  ChatCompletionCreateParamsNonStreaming as ChatBody,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { Bench } from '../check.ts';
import { answers } from '../toys/bigram.ts';
import { asked, collected, user } from './chat.ts';

const tool = (name: string, parameter: string): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    strict: true,
    parameters: {
      type: 'object',
      properties: { [parameter]: { type: 'string', enum: ['Oslo', 'Bergen', 'CET'] } },
      required: [parameter],
      additionalProperties: false,
    },
  },
});
export const tools = [tool('get_weather', 'city'), tool('get_time', 'zone')];

interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

/** What a whole answer or a stream says, whichever server it is of. */
interface Said {
  readonly finish: string | null | undefined;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly completionTokens: number | undefined;
}

export const checkTools = async ({ check, client, direct, server }: Bench): Promise<void> => {
  const whole = async (body: object): Promise<readonly Call[]> => {
    const { choices } = await client.chat.completions.create({ ...asked('Hi'), tools, ...body });
    const calls = choices[0]?.message.tool_calls ?? [];
    assert.equal(choices[0]?.finish_reason, 'tool_calls', JSON.stringify(choices[0]));
    return calls.map((call) => {
      assert.match(call.id, /^call_/);
      assert.equal(call.type, 'function');
      return { name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown };
    });
  };
  const streamed = async (body: object): Promise<readonly Call[]> => {
    const { chunks, finish } = await collected(
      await client.chat.completions.create({ ...asked('Hi'), tools, ...body, stream: true }),
    );
    const deltas = chunks.flatMap(({ choices: [choice] }) => choice?.delta.tool_calls ?? []);
    assert.equal(finish, 'tool_calls', JSON.stringify(chunks.at(-1)));
    return [...new Set(deltas.map(({ index }) => index))].map((index) => {
      const own = deltas.filter((delta) => delta.index === index);
      assert.match(own[0]?.id ?? '', /^call_/);
      const text = own.map(({ function: called }) => called?.arguments ?? '').join('');
      return { name: own[0]?.function?.name ?? '', arguments: JSON.parse(text) as unknown };
    });
  };
  const both = async (body: object, verify: (calls: readonly Call[]) => void): Promise<void> => {
    verify(await whole(body));
    verify(await streamed(body));
  };
  const oslo = { name: 'get_weather', arguments: { city: 'Oslo' } };

  await check('a tool call', () =>
    both({ messages: [user('[call]')] }, (calls) => assert.deepEqual(calls, [oslo])),
  );

  await check('two tool calls', () =>
    both({ messages: [user('[calls]')] }, (calls) =>
      assert.deepEqual(calls, [
        { name: 'get_weather', arguments: { city: 'Bergen' } },
        { name: 'get_time', arguments: { zone: 'CET' } },
      ]),
    ),
  );

  await check('text though tools are given', async () => {
    const { choices } = await client.chat.completions.create({ ...asked('Hi'), tools });
    assert.equal(choices[0]?.message.content, answers.plain.join(''));
    assert.equal(choices[0]?.finish_reason, 'stop');
  });

  await check('text after a tool result', async () => {
    const call = {
      id: 'call_1',
      type: 'function' as const,
      function: { name: 'get_weather', arguments: '{"city": "Oslo"}' },
    };
    const stream = await client.chat.completions.create({
      ...asked(''),
      messages: [
        user('[call]'),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain [count]' },
      ],
      tools,
      stream: true,
    });
    assert.equal((await collected(stream)).text, answers['[count]'].join(''));
  });

  if (server.traits.forcedCalls !== 'none')
    await check('a forced tool call', () =>
      // The trigger: some servers allow text before the call, and the toy model would not stop writing it.
      both({ messages: [user('[call]')], tool_choice: 'required' }, (calls) =>
        assert.deepEqual(calls, [oslo]),
      ),
    );

  if (server.traits.forcedCalls === 'named')
    for (const [limit, cut] of [
      [256, false],
      [16, true],
    ] as const)
      await check(`a named tool call${cut ? ', cut' : ''}`, async () => {
        const body = {
          ...asked('Hi'),
          // The grammar lets the toy write the call byte by byte. Greedy: the same for the gateway and around it.
          max_tokens: limit,
          temperature: 0,
          tools,
          tool_choice: { type: 'function' as const, function: { name: 'get_time' } },
        };
        for (const said of [wholeSaid, streamSaid]) {
          const ours = await said(client, body);
          const theirs = await said(direct, { ...body, model: 'writer' });
          // Servers differ in the reason for which they end with a call; it is one through the gateway.
          assert.deepEqual(ours, { ...theirs, finish: cut ? 'length' : 'tool_calls' });
          assert.equal(theirs.finish === 'length', cut, JSON.stringify(theirs));
          if (cut) continue;
          const [call, ...more] = ours.calls;
          assert.deepEqual(more, []);
          assert.equal(call?.name, 'get_time');
          const { zone } = JSON.parse(call?.arguments ?? '{}') as { zone?: string };
          assert.ok(['Oslo', 'Bergen', 'CET'].includes(zone ?? ''), zone);
        }
      });
};

const wholeSaid = async (sdk: OpenAI, body: ChatBody): Promise<Said> => {
  const { choices, usage } = await sdk.chat.completions.create(body);
  const calls = choices[0]?.message.tool_calls ?? [];
  return {
    finish: choices[0]?.finish_reason,
    text: choices[0]?.message.content ?? '',
    calls: calls.flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, arguments: call.function.arguments }] : [],
    ),
    completionTokens: usage?.completion_tokens,
  };
};

const streamSaid = async (sdk: OpenAI, body: ChatBody): Promise<Said> => {
  const { chunks, text, finish, usage } = await collected(
    await sdk.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }),
  );
  const deltas = chunks.flatMap(({ choices: [choice] }) => choice?.delta.tool_calls ?? []);
  return {
    finish,
    text,
    calls: [...new Set(deltas.map(({ index }) => index))].map((index) => {
      const own = deltas.filter((delta) => delta.index === index).map((delta) => delta.function);
      return {
        name: own.map((called) => called?.name ?? '').join(''),
        arguments: own.map((called) => called?.arguments ?? '').join(''),
      };
    }),
    completionTokens: usage?.completion_tokens,
  };
};
