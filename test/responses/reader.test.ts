/** Tests how a responses request becomes an engine call, and is echoed in the response. */
import t from 'tap';
import { ballast, harness, withBytes } from '../chat/fixtures.ts';
import { plainCall } from '../samples.ts';
import { answerOf, ask, callOf, streamOf } from './fixtures.ts';
import { checkResponse, readEvents } from './read-events.ts';

const say = (text: string) => [{ type: 'text', text }];
const user = { role: 'user', content: 'Hi' };
const png = 'data:image/png;base64,AAAA';
const image = { type: 'image', mediaType: 'image/png', base64: 'AAAA' };
const call = (id: string, name = 'look') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: `{"${id}":1}`,
});
const called = (id: string, name = 'look') => ({ id, name, arguments: `{"${id}":1}` });
const given = (id: string, output: unknown) => ({ type: 'function_call_output', call_id: id, output });

t.test('a minimal request', async (t) => {
  t.strictSame(await callOf({}), plainCall());
});

t.test('a request with many fields', async (t) => {
  const parameters = { type: 'object', properties: {}, required: [], additionalProperties: false };
  const request = {
    model: 'mock/thinker',
    instructions: 'Be brief',
    stream: true,
    max_output_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    frequency_penalty: 1,
    presence_penalty: -1,
    repetition_penalty: 1.1,
    seed: 7,
    top_logprobs: 2,
    include: ['message.output_text.logprobs'],
    tools: [
      { type: 'function', name: 'look', description: 'Looks', parameters, strict: true },
      { type: 'function', name: 'see' },
    ],
    tool_choice: { type: 'function', name: 'see' },
    parallel_tool_calls: false,
    reasoning: { effort: 'high', summary: 'auto', max_tokens: 50 },
    text: {
      format: { type: 'json_schema', name: 'a', description: 'A', schema: parameters, strict: true },
      verbosity: 'low',
    },
    metadata: { a: 'b' },
    user: 'u1',
    prompt_cache_key: 'k',
    safety_identifier: 's',
  };
  const at = harness();
  t.strictSame(await callOf(request, at), {
    messages: [
      { role: 'system', content: say('Be brief') },
      { role: 'user', content: say('Hi') },
    ],
    stream: true,
    maxTokens: 100,
    n: 1,
    continueFinal: false,
    thinking: { effort: 'high', budget: 50 },
    sampling: {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      frequencyPenalty: 1,
      presencePenalty: -1,
      repetitionPenalty: 1.1,
      seed: 7,
    },
    stop: [],
    logprobs: { top: 2 },
    tools: [{ name: 'look', description: 'Looks', parameters, strict: true }, { name: 'see' }],
    toolChoice: { name: 'see' },
    parallelToolCalls: false,
    format: { type: 'json_schema', name: 'a', schema: parameters, description: 'A', strict: true },
    user: 'u1',
    forwarded: undefined,
  });
  t.match(at.events, [
    {
      route: '/responses',
      model: 'mock/thinker',
      outcome: 'completed',
      quantities: { completion_tokens: 2 },
    },
  ]);

  const { response } = readEvents(streamOf(await ask({ input: 'Hi', ...request })));
  t.match(response, { id: 'resp_0123', status: 'completed', model: 'mock/thinker' });
  const echoed = {
    instructions: 'Be brief',
    metadata: { a: 'b' },
    tools: [
      { type: 'function', name: 'look', description: 'Looks', parameters, strict: true },
      { type: 'function', name: 'see', description: null, parameters: null, strict: null },
    ],
    tool_choice: { type: 'function', name: 'see' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'a', schema: parameters, description: 'A', strict: true } },
    reasoning: { effort: 'high', summary: 'auto' },
    max_output_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: -1,
    frequency_penalty: 1,
    top_logprobs: 2,
    user: 'u1',
    prompt_cache_key: 'k',
    safety_identifier: 's',
  };
  t.match(response, echoed);
  t.match(checkResponse(answerOf(await ask({ input: 'Hi', ...request, stream: false }))), echoed);
});

t.test('minor options', async (t) => {
  t.match(await callOf({ include: ['message.output_text.logprobs'] }), { logprobs: { top: 0 } });
  t.match(await callOf({ top_logprobs: 3 }), { logprobs: { top: 3 } });
  t.match(await callOf({ top_logprobs: 0 }), { logprobs: undefined });
  t.match(await callOf({ text: { format: { type: 'json_object' } } }), { format: { type: 'json_object' } });
  const tools = [{ type: 'function', name: 'look' }];
  t.match(await callOf({ tools }), { toolChoice: 'auto' });
  t.match(await callOf({ tools, tool_choice: 'auto' }), { toolChoice: 'auto' });
  t.match(await callOf({ tools, tool_choice: 'required' }), { toolChoice: 'required' });
  t.match(await callOf({ tool_choice: 'auto' }), { toolChoice: 'none' });
  t.match(await callOf({ model: 'mock/thinker', reasoning: { effort: 'none' } }), {
    thinking: { effort: 'none' },
  });
  t.match(await callOf({ model: 'mock/thinker', reasoning: { enabled: false } }), {
    thinking: { effort: 'none' },
  });
  t.match(await callOf({ model: 'mock/thinker:express', max_output_tokens: 8192 }), {
    thinking: { budget: 2048 },
  });
});

t.test('items become messages', async (t) => {
  const read = async (...input: unknown[]) => (await callOf({ input })).messages;
  t.strictSame(
    await read(
      { role: 'system', content: 'A' },
      { role: 'developer', content: [{ type: 'input_text', text: 'B' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'C' }] },
    ),
    [
      { role: 'system', content: say('A') },
      { role: 'developer', content: say('B') },
      { role: 'user', content: say('C') },
    ],
  );
  t.strictSame(
    await read(
      user,
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Let me look', annotations: [], logprobs: [] }],
      },
      { ...call('a'), id: 'fc_1', status: 'completed' },
      call('b', 'see'),
      given('a', 'one'),
      given('b', [{ type: 'input_text', text: 'two' }]),
      {
        type: 'reasoning',
        id: 'rs_2',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: null,
      },
      call('c'),
      given('c', ''),
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] },
      { role: 'assistant', content: 'Never' },
    ),
    [
      { role: 'user', content: say('Hi') },
      { role: 'assistant', content: say('Let me look'), toolCalls: [called('a'), called('b', 'see')] },
      { role: 'tool', callId: 'a', content: say('one') },
      { role: 'tool', callId: 'b', content: say('two') },
      { role: 'assistant', content: [], toolCalls: [called('c')] },
      { role: 'tool', callId: 'c', content: say('') },
      { role: 'assistant', content: [...say('No'), ...say('Never')], toolCalls: [] },
    ],
    'a turn of the model is one message, thoughts left out',
  );
  t.strictSame(
    await read(user, call('a'), { role: 'assistant', content: 'Looking' }, given('a', 'one')),
    [
      { role: 'user', content: say('Hi') },
      { role: 'assistant', content: say('Looking'), toolCalls: [called('a')] },
      { role: 'tool', callId: 'a', content: say('one') },
    ],
    'words after a call belong to its turn',
  );
});

t.test('a final assistant message is not continued', async (t) => {
  const call = await callOf({ model: 'mock/thinker', input: [user, { role: 'assistant', content: 'So ' }] });
  t.match(call, { continueFinal: false, thinking: { effort: undefined } });
  t.strictSame(call.messages.at(-1), { role: 'assistant', content: say('So '), toolCalls: [] });
});

t.test('media and documents', async (t) => {
  const see = async (...input: unknown[]) => (await callOf({ model: 'mock/eye', input })).messages;
  t.strictSame(
    await see({
      role: 'user',
      content: [
        { type: 'input_text', text: 'What?' },
        { type: 'input_image', image_url: png, detail: 'low' },
        { type: 'input_image', image_url: png, file_id: null },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'input_video', video_url: 'data:video/mp4;base64,AAAA' },
        { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGV5' },
        { type: 'input_file', file_url: 'data:text/plain;base64,aGV5' },
      ],
    }),
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { ...image, detail: 'low' },
          image,
          { type: 'audio', mediaType: 'audio/mpeg', base64: 'AAAA' },
          { type: 'video', mediaType: 'video/mp4', base64: 'AAAA' },
          { type: 'text', text: 'a.txt\n\nhey' },
          { type: 'text', text: 'document\n\nhey' },
        ],
      },
    ],
  );
  t.strictSame(
    await see(
      call('a'),
      call('b'),
      given('a', [
        { type: 'input_text', text: 'one' },
        { type: 'input_image', image_url: png },
      ]),
      given('b', [
        { type: 'input_file', filename: 'b.txt', file_data: 'data:text/plain;base64,aGV5' },
        { type: 'input_image', image_url: png, detail: 'high' },
      ]),
      call('c'),
      given('c', [{ type: 'input_image', image_url: png }]),
    ),
    [
      { role: 'assistant', content: [], toolCalls: [called('a'), called('b')] },
      { role: 'tool', callId: 'a', content: [...say('one'), ...say('(image in the next message)')] },
      { role: 'tool', callId: 'b', content: [...say('b.txt\n\nhey'), ...say('(image in the next message)')] },
      { role: 'user', content: [image, { ...image, detail: 'high' }] },
      { role: 'assistant', content: [], toolCalls: [called('c')] },
      { role: 'tool', callId: 'c', content: say('(image in the next message)') },
      { role: 'user', content: [image] },
    ],
    'pictures that functions gave stand after the last output of their turn',
  );
});

t.test('base64 in a schema stays text, however large the request', async (t) => {
  const schema = { type: 'object', default: { data: 'QUJD' } };
  const request = {
    input: ballast,
    tools: [{ type: 'function', name: 'look', parameters: schema }],
    text: { format: { type: 'json_schema', name: 'out', schema } },
  };
  const at = withBytes(harness());
  const { tools, format } = await callOf(request, at);
  t.match(tools, [{ name: 'look', parameters: schema }]);
  t.strictSame(format, { type: 'json_schema', name: 'out', schema });
  t.match(answerOf(await ask(request, at)), {
    tools: [{ parameters: schema }],
    text: { format: { schema } },
  });
});
