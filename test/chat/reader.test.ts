/** Tests how a chat request becomes an engine call: reader, context and reasoning rules. */
import t from 'tap';
import type { ChatCall } from '../../src/ports/engines/chat.ts';
import { plainCall } from '../samples.ts';
import { ask, ballast, callMadeBy, type Harness, harness, withBytes } from './fixtures.ts';

const user = { role: 'user', content: 'Hi' };

const callOf = (body: object, at: Harness = harness()): Promise<ChatCall> =>
  callMadeBy(ask({ messages: [user], ...body }, at), at);

const plain = plainCall();

t.test('a minimal request', async (t) => {
  t.strictSame(await callOf({}), plain);
  const { calls } = harness();
  t.same(calls, []);
});

t.test('a request with every field', async (t) => {
  const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
  const call = await callOf({
    model: 'mock/thinker',
    messages: [
      { role: 'system', content: 'Be brief', name: 'boss' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        name: 'ann',
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'so' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      user,
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 7,
    max_completion_tokens: 9000,
    reasoning_effort: 'low',
    reasoning: { effort: 'high', max_tokens: 2000, summary: 'auto' },
    n: 2,
    seed: 42,
    top_k: 0,
    repetition_penalty: 1,
    temperature: 0,
    top_p: 0.5,
    frequency_penalty: -1,
    presence_penalty: 1,
    logit_bias: { '50256': -100 },
    stop: 'END',
    logprobs: true,
    top_logprobs: 3,
    tools: [
      {
        type: 'function',
        function: { name: 'look', description: 'Looks', parameters: schema, strict: true },
      },
      { type: 'function', function: { name: 'go' } },
    ],
    tool_choice: { type: 'function', function: { name: 'go' } },
    parallel_tool_calls: false,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'out', description: 'Out', schema, strict: true },
    },
    user: 'u1',
  });
  t.strictSame(call, {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }], name: 'boss' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        name: 'ann',
      },
      { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
      { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: 'seen' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'so' },
          { type: 'text', text: 'no' },
        ],
        toolCalls: [],
      },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    stream: true,
    n: 2,
    continueFinal: false,
    sampling: {
      temperature: 0,
      topP: 0.5,
      topK: 0,
      frequencyPenalty: -1,
      presencePenalty: 1,
      repetitionPenalty: 1,
      seed: 42,
      logitBias: { '50256': -100 },
    },
    stop: ['END'],
    logprobs: { top: 3 },
    tools: [{ name: 'look', description: 'Looks', parameters: schema, strict: true }, { name: 'go' }],
    toolChoice: { name: 'go' },
    parallelToolCalls: false,
    format: { type: 'json_schema', name: 'out', schema, description: 'Out', strict: true },
    user: 'u1',
    forwarded: undefined,
    maxTokens: 9000,
    thinking: { effort: 'high', budget: 2000 },
  });
});

t.test('any 64-bit seed is mapped to one that engines accept', async (t) => {
  const seed = async (value: number) => (await callOf({ seed: value })).sampling.seed;
  for (const small of [0, -7, 2 ** 53 - 1, 1 - 2 ** 53]) t.equal(await seed(small), small);
  t.equal(await seed(Number('9223372036854775807')), 2 ** 52, 'the largest, as JSON reads it');
  t.equal(await seed(Number('-9223372036854775808')), -(2 ** 52));
  t.not(await seed(2 ** 62), await seed(2 ** 62 + 2 ** 12), 'others are others');
});

t.test('base64 in a schema stays text, however large the request', async (t) => {
  const schema = { type: 'object', examples: [{ data: 'QUJD' }, null], default: { data: 'QUJD' } };
  const call = await callOf(
    {
      messages: [{ role: 'user', content: ballast }],
      tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema } },
    },
    withBytes(harness()),
  );
  t.strictSame(call.tools, [{ name: 'look', parameters: schema }]);
  t.strictSame(call.format, { type: 'json_schema', name: 'out', schema });
});

t.test('media becomes data, documents become text', async (t) => {
  const call = await callOf({
    model: 'mock/eye',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
          { type: 'video_url', video_url: { url: 'data:video/mp4;base64,CCCC' } },
          { type: 'file', file: { filename: 'notes.md', file_data: 'data:text/markdown;base64,IyBIaQ==' } },
          { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=' } },
        ],
      },
    ],
  });
  t.strictSame(call.messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', mediaType: 'image/png', base64: 'AAAA', detail: 'low' },
        { type: 'audio', mediaType: 'audio/mpeg', base64: 'BBBB' },
        { type: 'video', mediaType: 'video/mp4', base64: 'CCCC' },
        { type: 'text', text: 'notes.md\n\n# Hi' },
        { type: 'text', text: 'document\n\nHi' },
      ],
    },
  ]);
});

t.test('a final assistant message is continued', async (t) => {
  const messages = [
    user,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Once ' },
        { type: 'text', text: ' \n' },
      ],
    },
  ];
  for (const said of [{}, { continue_final_message: true }, { continue_final_message: false }]) {
    const call = await callOf({ messages, ...said });
    t.equal(call.continueFinal, true);
    t.strictSame(call.messages[1], {
      role: 'assistant',
      content: [{ type: 'text', text: 'Once' }],
      toolCalls: [],
    });
  }
  const thinking = async (model: string) =>
    (await callOf({ model, messages, reasoning: { max_tokens: 99_999 } })).thinking;
  t.same(await thinking('mock/thinker'), { effort: 'none', budget: undefined }, 'and thinking is off');
  t.same(await thinking('mock/always'), { effort: undefined, budget: undefined }, 'as far as it can be');
  t.same(await thinking('mock/chat'), { effort: undefined, budget: undefined });
});

t.test('thinking', async (t) => {
  const thinking = async (model: string, fields: object = {}) => {
    const { effort, budget } = (await callOf({ model, ...fields })).thinking;
    return `${effort} ${budget}`;
  };
  t.equal(await thinking('mock/thinker'), 'undefined undefined', 'the default stands');
  t.equal(await thinking('mock/thinker', { reasoning_effort: 'low' }), 'low undefined');
  t.equal(
    await thinking('mock/thinker', { reasoning_effort: 'low', reasoning: { effort: 'high' } }),
    'high undefined',
  );
  t.equal(
    await thinking('mock/thinker', { reasoning_effort: 'low', reasoning: { summary: 'auto' } }),
    'low undefined',
  );
  t.equal(
    await thinking('mock/thinker', { reasoning: { enabled: false, effort: 'high' } }),
    'none undefined',
  );
  t.equal(
    await thinking('mock/thinker', { reasoning_effort: 'high', reasoning: { enabled: false } }),
    'none undefined',
  );
  t.equal(await thinking('mock/thinker', { reasoning: { max_tokens: 500 } }), 'undefined 500');
  t.equal(
    await thinking('mock/thinker', { reasoning: { max_tokens: 99_999, effort: 'none' } }),
    'none undefined',
  );
  t.equal(
    await thinking('mock/always', { reasoning: { max_tokens: 500 } }),
    'undefined undefined',
    'not enforced',
  );
  t.equal(await thinking('mock/shy'), 'undefined undefined');
  t.equal(await thinking('mock/shy', { reasoning: { enabled: true } }), 'medium undefined', 'wakes up');
  t.equal(await thinking('mock/shy', { reasoning: { max_tokens: 5 } }), 'medium undefined');
  t.equal(await thinking('mock/chat', { reasoning_effort: 'none' }), 'undefined undefined');
});

t.test(':express derives a budget where budgets are kept', async (t) => {
  const budget = async (model: string, fields: object = {}) =>
    (await callOf({ model, ...fields })).thinking.budget;
  t.equal(await budget('mock/thinker:express'), 8192, 'a quarter of the limit');
  t.equal(await budget('mock/thinker:express', { max_completion_tokens: 3000 }), 1024, 'at least 1024');
  t.equal(await budget('mock/thinker:express', { max_completion_tokens: 100 }), 50, 'at most half');
  t.equal(await budget('mock/thinker:express', { max_completion_tokens: 1 }), undefined);
  t.equal(await budget('mock/thinker:express', { reasoning: { max_tokens: 77 } }), 77, 'a given one stands');
  t.equal(await budget('mock/thinker:express', { reasoning_effort: 'none' }), undefined);
  t.equal(await budget('mock/thinker:other'), undefined);
  t.equal(await budget('mock/always:express'), undefined, 'the model keeps no budgets');
  t.equal(await budget('mock/chat:express'), undefined);
});

t.test('the completion limit fits the window', async (t) => {
  const limit = async (body: object, at = harness()) => (await callOf(body, at)).maxTokens;
  t.equal(await limit({ max_tokens: 5 }), 5);
  t.equal(await limit({ max_tokens: 5, max_completion_tokens: 6 }), 6);
  t.equal(
    await limit({ max_completion_tokens: 1e300 }),
    131_072 - 8 - 32,
    'counted exactly when bytes cannot fit',
  );
  t.equal(await limit({ model: 'mock/small' }), 256 - 8 - 32, 'window − prompt − 32');
  t.equal(await limit({ model: 'mock/small', max_completion_tokens: 100 }), 100);

  const large = harness();
  const long = [{ role: 'user', content: 'word '.repeat(100_000) }];
  t.equal(await limit({ messages: long }, large), 131_072 - 125_000 - 7 - 32);
  t.equal(large.counted.length, 1, 'large prompts are counted off the loop');

  const fits = harness();
  t.equal(await limit({ messages: [{ role: 'user', content: 'ä'.repeat(40_000) }] }, fits), 32_768);
  t.equal(fits.counted.length, 0, 'the byte bound was enough');

  const tools = harness();
  const big = { type: 'object', description: 'x'.repeat(120_000) };
  await limit({ tools: [{ type: 'function', function: { name: 'f', parameters: big } }] }, tools);
  t.equal(tools.counted.length, 1, 'schemas of tools count');
});

t.test('special tokens in a prompt are text like any other', async (t) => {
  const call = await callOf({
    model: 'mock/small',
    messages: [{ role: 'user', content: '<|endoftext|><|im_start|>' }],
  });
  t.ok(call.maxTokens < 256 - 8 - 32);
});

t.test('the response names the model that served it', async (t) => {
  const [reply] = await ask({ messages: [user] });
  t.match(reply?.kind === 'whole' && JSON.parse(String(reply.body)), {
    model: 'mock/chat',
    id: 'chatcmpl-0123',
  });
});
