/** Tests how a messages request becomes an engine call, and how its prompt is counted. */
import { of } from 'rxjs';
import t from 'tap';
import { ballast, finish, text, usage, withBytes } from '../chat/fixtures.ts';
import { plainCall } from '../samples.ts';
import { answerOf, ask, callOf, count, harness } from './fixtures.ts';

const user = { role: 'user', content: 'Hi' };
const says = (words: string) => ({ type: 'text', text: words }) as const;
const plain = plainCall({ maxTokens: 100 });
const messagesOf = async (...messages: unknown[]) => (await callOf({ messages })).messages;

t.test('a minimal request', async (t) => {
  t.strictSame(await callOf({}), plain);
  t.strictSame(
    await callOf({
      system: null,
      stream: null,
      temperature: null,
      thinking: null,
      tools: null,
      tool_choice: null,
      metadata: null,
      output_config: null,
      stop_sequences: null,
      container: null,
      messages: [{ ...user, clear_at: null, output_config: null }],
    }),
    plain,
    'null is absent',
  );
});

t.test('a request with every field', async (t) => {
  const schema = { type: 'object', properties: { at: { type: ['string', 'null'], default: null } } };
  const cache_control = { type: 'ephemeral' };
  const call = await callOf({
    model: 'mock/thinker',
    max_tokens: 9000,
    stream: true,
    system: [
      { type: 'text', text: 'Be brief', cache_control },
      { type: 'text', text: 'Be kind' },
    ],
    messages: [{ ...user, clear_at: 'never' }],
    temperature: 0,
    top_p: 0.5,
    top_k: 40,
    stop_sequences: ['1', '2', '3', '4', '5', '6'],
    metadata: { user_id: 'ann' },
    thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
    output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    tools: [
      {
        type: 'custom',
        name: 'x'.repeat(200),
        description: 'Look',
        input_schema: schema,
        strict: true,
        cache_control,
        defer_loading: true,
        eager_input_streaming: true,
      },
      { name: 'hear', input_schema: {}, strict: false, input_examples: [] },
      {
        type: 'taste_20250101',
        name: 'taste',
        description: 'Taste it.',
        input_schema: {},
        input_examples: [{ salt: 1 }, {}],
      },
      { name: 'smell', input_schema: {}, input_examples: [{ a: 'b' }] },
    ],
    tool_choice: { type: 'tool', name: 'hear', disable_parallel_tool_use: true },
    service_tier: 'auto',
    speed: 'fast',
    inference_geo: 'global',
    container: null,
    thread: null,
    betas: ['x'],
    cache_control,
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    mcp_servers: [],
    diagnostics: { previous_message_id: null },
    fallbacks: [{ model: 'mock/chat' }],
  });
  t.strictSame(call, {
    messages: [
      { role: 'system', content: [says('Be brief'), says('Be kind')] },
      { role: 'user', content: [says('Hi')] },
    ],
    stream: true,
    n: 1,
    continueFinal: false,
    sampling: { temperature: 0, topP: 0.5, topK: 40 },
    stop: ['1', '2', '3', '4', '5', '6'],
    logprobs: undefined,
    tools: [
      { name: 'x'.repeat(200), description: 'Look', parameters: schema, strict: true },
      { name: 'hear', parameters: {}, strict: false },
      { name: 'taste', description: 'Taste it.\n\nExamples of input:\n{"salt":1}\n{}', parameters: {} },
      { name: 'smell', description: 'Examples of input:\n{"a":"b"}', parameters: {} },
    ],
    toolChoice: { name: 'hear' },
    parallelToolCalls: false,
    format: { type: 'json_schema', name: 'answer', schema },
    user: 'ann',
    forwarded: undefined,
    maxTokens: 9000,
    thinking: { effort: 'high', budget: 2000 },
  });
});

t.test('turns', async (t) => {
  t.strictSame(
    await messagesOf(
      user,
      { role: 'user', content: [says('a'), says('b')] },
      { role: 'assistant', content: 'c' },
      { role: 'assistant', content: [says('d')] },
      user,
    ),
    [
      { role: 'user', content: [says('Hi'), says('ab')] },
      { role: 'assistant', content: [says('c'), says('d')], toolCalls: [] },
      { role: 'user', content: [says('Hi')] },
    ],
    'of one role in a row are one, the text blocks of each as they are',
  );
  t.strictSame(
    await messagesOf(
      user,
      { role: 'system', content: 'Be brief', clear_at: 'never' },
      { role: 'assistant', content: 'a' },
      user,
      user,
      { role: 'system', content: [says('Be'), says(' kind')] },
    ),
    [
      { role: 'user', content: [says('Hi')] },
      { role: 'system', content: [says('Be brief')] },
      { role: 'assistant', content: [says('a')], toolCalls: [] },
      { role: 'user', content: [says('Hi'), says('Hi')] },
      { role: 'system', content: [says('Be kind')] },
    ],
    'of the system stay where they are',
  );
  t.strictSame(
    await messagesOf(user, { role: 'assistant', content: [] }, user),
    [
      { role: 'user', content: [says('Hi')] },
      { role: 'assistant', content: [], toolCalls: [] },
      { role: 'user', content: [says('Hi')] },
    ],
    'that were empty answers come back as such',
  );
  t.strictSame(await messagesOf({ role: 'user', content: '' }), [{ role: 'user', content: [says('')] }]);
});

t.test('returned reasoning is dropped, whoever signed it', async (t) => {
  t.strictSame(
    await messagesOf(
      user,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'forged' },
          { type: 'thinking', thinking: '', signature: 'ours' },
          { type: 'thinking', thinking: 'no signature' },
          { type: 'redacted_thinking', data: 'AAAA' },
          says('So'),
        ],
      },
      user,
    ),
    [
      { role: 'user', content: [says('Hi')] },
      { role: 'assistant', content: [says('So')], toolCalls: [] },
      { role: 'user', content: [says('Hi')] },
    ],
  );
});

const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'look', input });
const result = (tool_use_id: string, fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id,
  ...fields,
});

t.test('tool calls and their results', async (t) => {
  t.strictSame(
    await messagesOf(
      user,
      {
        role: 'assistant',
        content: [
          says('Let me see'),
          use('toolu_1', { a: null, b: [1e3, 'é"'] }),
          use('other_2'),
          says('and'),
          use('toolu_3'),
        ],
      },
      {
        role: 'user',
        content: [
          says('Here:'),
          result('toolu_1', { content: 'seen' }),
          result('other_2', { content: [says('heard'), says('twice')], is_error: false }),
        ],
      },
      {
        role: 'user',
        content: [result('toolu_3', { is_error: true, content: 'no such file' }), says('Go on')],
      },
      { role: 'assistant', content: [use('toolu_4')] },
      { role: 'user', content: [result('toolu_4')] },
    ),
    [
      { role: 'user', content: [says('Hi')] },
      {
        role: 'assistant',
        content: [says('Let me see'), says('and')],
        toolCalls: [
          { id: 'call_1', name: 'look', arguments: '{"a":null,"b":[1000,"é\\""]}' },
          { id: 'other_2', name: 'look', arguments: '{}' },
          { id: 'call_3', name: 'look', arguments: '{}' },
        ],
      },
      { role: 'tool', callId: 'call_1', content: [says('seen')] },
      { role: 'tool', callId: 'other_2', content: [says('heard'), says('twice')] },
      { role: 'tool', callId: 'call_3', content: [says('Error:'), says('no such file')] },
      { role: 'user', content: [says('Here:'), says('Go on')] },
      { role: 'assistant', content: [], toolCalls: [{ id: 'call_4', name: 'look', arguments: '{}' }] },
      { role: 'tool', callId: 'call_4', content: [says('')] },
    ],
  );
});

t.test('ids of calls are the same from turn to turn', async (t) => {
  const answer = of([
    { type: 'tool-call', choice: 0, call: 0, id: 'call_a-B_9', name: 'look' } as const,
    { type: 'tool-call', choice: 0, call: 1, id: 'odd', name: 'look' } as const,
    finish('tool_calls'),
    usage(1, 1),
  ]);
  const request = { model: 'mock/chat', max_tokens: 9, messages: [user] };
  const { content } = answerOf(await ask(request, harness(answer)));
  const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  t.strictSame(ids, ['toolu_a-B_9', 'toolu_odd']);
  const back = await messagesOf(
    user,
    { role: 'assistant', content },
    { role: 'user', content: ids.map((id) => result(id, { content: 'x' })) },
  );
  t.match(back.slice(1), [
    { role: 'assistant', toolCalls: [{ id: 'call_a-B_9' }, { id: 'call_odd' }] },
    { role: 'tool', callId: 'call_a-B_9' },
    { role: 'tool', callId: 'call_odd' },
  ]);
});

t.test('base64 in the input of a tool and in schemas stays text, however large the request', async (t) => {
  const data = 'QUJD'.repeat(2000);
  const schema = { type: 'object', default: { data } };
  const { messages, tools, format } = await callOf(
    {
      system: ballast,
      messages: [
        user,
        {
          role: 'assistant',
          content: [use('toolu_1', { file: { data } }), { type: 'redacted_thinking', data }],
        },
        { role: 'user', content: [result('toolu_1')] },
      ],
      tools: [{ name: 'look', input_schema: schema }],
      output_config: { format: { type: 'json_schema', schema } },
    },
    withBytes(harness()),
  );
  t.match(messages[2], { toolCalls: [{ arguments: JSON.stringify({ file: { data } }) }] });
  t.strictSame(tools, [{ name: 'look', parameters: schema }]);
  t.strictSame(format, { type: 'json_schema', name: 'answer', schema });
});

t.test('images', async (t) => {
  const base64 = { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } };
  const url = { type: 'image', source: { type: 'url', url: 'data:image/png;base64,BBBB' } };
  const { messages } = await callOf({
    model: 'mock/eye',
    messages: [
      { role: 'user', content: [base64, says('and'), url] },
      { role: 'assistant', content: [use('toolu_1')] },
      { role: 'user', content: [result('toolu_1', { content: [says('seen'), url] }), says('Well?')] },
    ],
  });
  const webp = { type: 'image', mediaType: 'image/webp', base64: 'AAAA' };
  const png = { type: 'image', mediaType: 'image/png', base64: 'BBBB' };
  t.strictSame(messages, [
    { role: 'user', content: [webp, says('and'), png] },
    { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
    { role: 'tool', callId: 'call_1', content: [says('seen'), says('(image in the next message)')] },
    { role: 'user', content: [png, says('Well?')] },
  ]);
});

t.test('documents and search results become text', async (t) => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const document = (source: object, fields: object = {}) => ({ type: 'document', source, ...fields });
  const citations = { enabled: true };
  const pdf = { type: 'base64', media_type: 'application/pdf', data: base64('Tides rise.') };
  const plain = { type: 'text', media_type: 'text/plain', data: 'Tides fall.' };
  const url = { type: 'url', url: `data:text/html;base64,${base64('Tides turn.')}` };
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const found = (...texts: string[]) => ({
    type: 'search_result',
    source: 'https://a.example/tides',
    title: 'Tides',
    content: texts.map(says),
    citations,
  });
  const png = { type: 'image', mediaType: 'image/png', base64: 'AAAA' };
  const { messages } = await callOf({
    model: 'mock/eye',
    messages: [
      {
        role: 'user',
        content: [
          document(pdf, { title: 'Tides.pdf', context: 'From 1990', citations, cache_control: null }),
          document(plain, { title: null, context: null }),
          document(url),
          document({ type: 'content', content: 'Tides wait.' }, { title: 'Notes' }),
          document({ type: 'content', content: [says('One'), image, says('Two')] }, { context: 'Numbers' }),
          found('Twice', 'a day'),
          says('Well'),
          says('?'),
        ],
      },
      { role: 'assistant', content: [use('toolu_1')] },
      {
        role: 'user',
        content: [
          result('toolu_1', {
            is_error: true,
            content: [
              document(pdf, { title: 'Tides.pdf' }),
              document(plain, { context: 'Here' }),
              document({ type: 'content', content: [image] }),
              found(),
              { type: 'tool_reference', tool_name: 'look' },
            ],
          }),
        ],
      },
    ],
  });
  t.strictSame(messages, [
    {
      role: 'user',
      content: [
        says('Tides.pdf\n\nFrom 1990\n\nTides rise.'),
        says('document\n\nTides fall.'),
        says('document\n\nTides turn.'),
        says('Notes'),
        says('Tides wait.'),
        says('document\n\nNumbers'),
        says('One'),
        png,
        says('Two'),
        says('Tides\nhttps://a.example/tides\n\nTwice\na day'),
        says('Well?'),
      ],
    },
    { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
    {
      role: 'tool',
      callId: 'call_1',
      content: [
        says('Error:'),
        says('Tides.pdf\n\nTides rise.'),
        says('document\n\nHere\n\nTides fall.'),
        says('document'),
        says('(image in the next message)'),
        says('Tides\nhttps://a.example/tides\n'),
        says('look'),
      ],
    },
    { role: 'user', content: [png] },
  ]);

  const letters = 'QUJD'.repeat(2000);
  const large = await callOf(
    {
      system: ballast,
      messages: [{ role: 'user', content: [document({ type: 'text', data: letters })] }],
    },
    withBytes(harness()),
  );
  t.strictSame(
    large.messages[1],
    { role: 'user', content: [says(`document\n\n${letters}`)] },
    'however large',
  );
});

t.test('what server tools left in a conversation is left out, summaries are kept', async (t) => {
  const id = 'srvtoolu_1';
  t.strictSame(
    await messagesOf(
      user,
      {
        role: 'assistant',
        content: [
          { type: 'compaction', content: 'They spoke of tides.', encrypted_content: 'x' },
          { type: 'compaction', content: null },
          says('Let me search.'),
          { type: 'server_tool_use', id, name: 'web_search', input: { query: 'tides' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: id,
            content: [{ type: 'web_search_result', title: 'Tides', url: 'https://a.example' }],
          },
          { type: 'code_execution_tool_result', tool_use_id: id, content: { stdout: '1', return_code: 0 } },
          { type: 'mcp_tool_use', id, name: 'look', server_name: 'files', input: {} },
          { type: 'mcp_tool_result', tool_use_id: id, content: 'seen', is_error: false },
          { type: 'text', text: 'Twice ', citations: [{ type: 'web_search_result_location' }] },
          { type: 'text', text: 'a day.', citations: null },
        ],
      },
      user,
    ),
    [
      { role: 'user', content: [says('Hi')] },
      {
        role: 'assistant',
        content: [says('They spoke of tides.'), says('Let me search.'), says('Twice a day.')],
        toolCalls: [],
      },
      { role: 'user', content: [says('Hi')] },
    ],
  );
});

t.test('the older name of the output format', async (t) => {
  const schema = { type: 'object' };
  t.match(await callOf({ output_format: { type: 'json_schema', schema } }), {
    format: { type: 'json_schema', name: 'answer', schema },
  });
});

t.test('a final assistant message is continued', async (t) => {
  const call = await callOf({
    model: 'mock/thinker',
    max_tokens: 4096,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [user, { role: 'assistant', content: [says('Once'), says(' upon'), says(' a \n'), says(' ')] }],
  });
  t.match(call, { continueFinal: true, thinking: { effort: 'none', budget: undefined } });
  t.strictSame(call.messages.at(-1), {
    role: 'assistant',
    content: [says('Once upon a')],
    toolCalls: [],
  });
});

t.test('thinking and effort', async (t) => {
  const thinking = async (model: string, fields: object) =>
    (await callOf({ model, max_tokens: 8192, ...fields })).thinking;
  const budget = undefined;
  const enabled = { thinking: { type: 'enabled', budget_tokens: 1024 } };
  const adaptive = { thinking: { type: 'adaptive' } };
  const disabled = { thinking: { type: 'disabled' } };
  const low = { output_config: { effort: 'low' } };
  const rows: readonly (readonly [model: string, fields: object, thinking: object])[] = [
    ['mock/chat', {}, { effort: undefined, budget }],
    ['mock/chat', adaptive, { effort: undefined, budget }],
    ['mock/chat', disabled, { effort: undefined, budget }],
    ['mock/chat', low, { effort: undefined, budget }],
    ['mock/chat', { ...adaptive, output_config: { effort: 'ultra' } }, { effort: undefined, budget }],
    ['mock/thinker', {}, { effort: 'none', budget }],
    ['mock/thinker', adaptive, { effort: undefined, budget }],
    ['mock/thinker', enabled, { effort: undefined, budget: 1024 }],
    ['mock/thinker', { ...enabled, ...low }, { effort: 'low', budget: 1024 }],
    ['mock/thinker', disabled, { effort: 'none', budget }],
    ['mock/thinker', { ...disabled, ...low }, { effort: 'none', budget }],
    ['mock/thinker', { thinking: { type: 'disabled', budget_tokens: 1024 } }, { effort: 'none', budget }],
    ['mock/thinker', { thinking: { type: 'adaptive', budget_tokens: 1024 } }, { effort: undefined, budget }],
    ['mock/thinker', low, { effort: 'low', budget }],
    ['mock/thinker:express', {}, { effort: undefined, budget: 2048 }],
    ['mock/thinker:express', enabled, { effort: undefined, budget: 1024 }],
    ['mock/thinker:express', disabled, { effort: 'none', budget }],
    ['mock/always', {}, { effort: undefined, budget }],
    ['mock/always:express', {}, { effort: undefined, budget }],
    ['mock/shy:express', {}, { effort: undefined, budget }],
    ['mock/shy', {}, { effort: undefined, budget }],
    ['mock/shy', adaptive, { effort: 'medium', budget }],
    ['mock/shy', { output_config: { effort: 'ultra' } }, { effort: 'ultra', budget }],
    ['mock/always', low, { effort: 'low', budget }],
    ['mock/always', adaptive, { effort: undefined, budget }],
  ];
  for (const [model, fields, expected] of rows)
    t.strictSame(await thinking(model, fields), expected, `${model} ${JSON.stringify(fields)}`);
});

t.test('limits', async (t) => {
  t.match(await callOf({ max_tokens: 0 }), { maxTokens: 0 }, 'none is asked for as it is');
  t.match(await callOf({ max_tokens: 0, model: 'mock/thinker:express' }), {
    maxTokens: 0,
    thinking: { budget: undefined },
  });
  t.match(
    await callOf({
      max_tokens: 5000,
      model: 'mock/small',
      messages: [{ role: 'user', content: 'word '.repeat(100) }],
    }),
    { maxTokens: 256 - 32 - 108 },
    'what the window leaves',
  );
});

t.test('tool choice', async (t) => {
  const tools = [{ name: 'look', input_schema: {} }];
  const rows: readonly (readonly [choice: object | undefined, toolChoice: unknown, parallel: unknown])[] = [
    [undefined, 'auto', undefined],
    [{ type: 'auto' }, 'auto', undefined],
    [{ type: 'any' }, 'required', undefined],
    [{ type: 'none' }, 'none', undefined],
    [{ type: 'tool', name: 'look' }, { name: 'look' }, undefined],
    [{ type: 'auto', disable_parallel_tool_use: true }, 'auto', false],
    [{ type: 'any', disable_parallel_tool_use: false }, 'required', undefined],
  ];
  for (const [tool_choice, toolChoice, parallelToolCalls] of rows)
    t.strictSame(await callOf({ tools, tool_choice }), {
      ...plain,
      tools: [{ name: 'look', parameters: {} }],
      toolChoice,
      parallelToolCalls,
    });
  t.match(await callOf({ tool_choice: { type: 'none' } }), { toolChoice: 'none' });
});

t.test('counting tokens', async (t) => {
  const tokens = async (body: object) =>
    answerOf(await count({ model: 'mock/eye', messages: [user], ...body })) as unknown;
  t.strictSame(await tokens({}), { input_tokens: 8 });
  t.strictSame(await tokens({ system: 'Be brief' }), { input_tokens: 14 });
  const image = { type: 'image', source: { type: 'url', url: 'https://example.org/never-fetched.png' } };
  t.strictSame(await tokens({ messages: [{ role: 'user', content: [image, says('Hi')] }] }), {
    input_tokens: 1032,
  });
  t.strictSame(await tokens({ tools: [{ name: 'look', input_schema: {} }] }), { input_tokens: 19 });
  const tides = 'Tides rise and fall. '.repeat(50);
  const data = Buffer.from(tides).toString('base64');
  for (const source of [
    { type: 'text', media_type: 'text/plain', data: tides },
    { type: 'base64', media_type: 'text/plain', data },
    { type: 'url', url: `data:text/plain;base64,${data}` },
  ]) {
    const content = [image, { type: 'document', source }, says('Hi')];
    t.strictSame(
      await tokens({ messages: [{ role: 'user', content }] }),
      { input_tokens: 1335 },
      source.type,
    );
  }
  const at = harness(of([text('a'), finish(), usage(1, 1)]));
  await count({ model: 'mock/chat', messages: [{ role: 'user', content: 'word '.repeat(2000) }] }, at);
  t.equal(at.counted.length, 1, 'long prompts are counted on a thread');
  t.strictSame([at.calls, at.events], [[], []], 'nothing is generated or billed');
  t.match(at.leases, [{ released: 1 }], 'it counts as a request');
});
