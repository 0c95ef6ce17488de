/** Tests how tools of the responses format reach the engine, and how their calls come back. */
import { of } from 'rxjs';
import t from 'tap';
import type { Part } from '../../src/ports/engines/chat.ts';
import { finish, harness, text, thought, toolArguments, toolCall, usage } from '../chat/fixtures.ts';
import { answerOf, ask, callOf, streamOf } from './fixtures.ts';
import { checkResponse, readEvents } from './read-events.ts';

const user = { role: 'user', content: 'Hi' };
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const look = { type: 'function', name: 'look', description: 'Looks', parameters, strict: false };
const see = { type: 'function', name: 'see' };
const patch = { type: 'custom', name: 'patch', description: 'Patches files' };
const maps = { type: 'namespace', name: 'maps', description: 'About places', tools: [look, patch] };
const allowed = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', mode, tools });

const lookTool = { name: 'look', description: 'Looks', parameters, strict: false };
const inputOnly = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool: plain text, not JSON' } },
  required: ['input'],
  additionalProperties: false,
};
const patchTool = { name: 'patch', description: 'Patches files', parameters: inputOnly };

const toolsOf = async (body: object) => (await callOf(body)).tools;

t.test('tools that do not run here are left out of the call, and shown', async (t) => {
  const tools = [
    { type: 'web_search', external_web_access: false },
    look,
    { type: 'web_search_preview' },
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' },
    { type: 'mcp', server_label: 'x', server_url: 'https://example.com', headers: null },
    { type: 'tool_search', execution: 'client', description: 'Finds', parameters },
    { type: 'image_generation' },
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'apply_patch' },
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'some_new_tool', name: 5, tools: 'x' },
  ];
  t.strictSame(await toolsOf({ tools }), [lookTool]);
  const shown = tools.map((tool) => (tool.type === 'function' ? look : tool));
  t.strictSame(checkResponse(answerOf(await ask({ input: 'Hi', tools }))).tools, shown);
  t.match(await callOf({ tools: [{ type: 'web_search' }] }), { tools: [], toolChoice: 'none' });
});

t.test('namespaces and custom tools are functions to the engine', async (t) => {
  const tools = [maps, look, patch];
  t.strictSame(await toolsOf({ tools }), [
    { ...lookTool, name: 'maps__look', description: 'About places\n\nLooks' },
    { ...patchTool, name: 'maps__patch' },
    lookTool,
    patchTool,
  ]);
  t.strictSame(checkResponse(answerOf(await ask({ input: 'Hi', tools }))).tools, tools);

  const grammar = (syntax: string) => ({
    ...patch,
    format: { type: 'grammar', syntax, definition: 'start: "a"+' },
  });
  t.strictSame(await toolsOf({ tools: [grammar('lark')] }), [
    {
      ...patchTool,
      description: 'Patches files\n\nThe input must match this grammar (lark):\nstart: "a"+',
    },
  ]);
  t.strictSame(await toolsOf({ tools: [{ ...grammar('regex'), description: undefined }] }), [
    { ...patchTool, description: 'The input must match this grammar (regex):\nstart: "a"+' },
  ]);
  t.strictSame(await toolsOf({ tools: [{ type: 'custom', name: 'patch', format: { type: 'text' } }] }), [
    { name: 'patch', parameters: inputOnly },
  ]);
  t.strictSame(await toolsOf({ tools: [{ type: 'namespace', name: 'maps', tools: [see] }] }), [
    { name: 'maps__see' },
  ]);
});

t.test('every tool has a name of its own that engines take', async (t) => {
  const long = 'n'.repeat(60);
  const namespace = (name: string, ...tools: object[]) => ({ type: 'namespace', name, tools });
  const request = {
    tools: [
      namespace('maps', see, { ...see, name: 'sea' }),
      { ...see, name: 'maps__see' },
      namespace(long, { ...see, name: long }),
      namespace('maps of the world', see),
      namespace('maps.of.the.world', see),
      namespace('a', { ...see, name: 'b__c' }),
      namespace('a__b', { ...see, name: 'c' }),
    ],
  };
  const names = (await toolsOf(request)).map(({ name }) => name);
  t.match(names, [
    /^maps__see_[0-9a-f]{8}$/,
    'maps__sea',
    'maps__see',
    /^n{55}_[0-9a-f]{8}$/,
    /^maps_of_the_world__see_[0-9a-f]{8}$/,
    /^maps_of_the_world__see_[0-9a-f]{8}$/,
    'a__b__c',
    /^a__b__c_[0-9a-f]{8}$/,
  ]);
  t.equal(new Set(names).size, names.length);
  for (const name of names) t.match(name, /^[\w-]{1,64}$/);
  t.strictSame(
    (await toolsOf(request)).map(({ name }) => name),
    names,
    'the same every time',
  );
});

t.test('tools in the input count as well', async (t) => {
  const newer = { ...look, description: 'Looks closer' };
  const { tools, messages } = await callOf({
    tools: [look],
    input: [
      { type: 'additional_tools', id: 'at_1', role: 'developer', tools: [maps, { type: 'web_search' }] },
      user,
      { type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: { query: 'see' } },
      {
        type: 'tool_search_output',
        call_id: 'call_1',
        execution: 'client',
        status: 'completed',
        tools: [{ ...see, defer_loading: true }, newer],
      },
    ],
  });
  t.strictSame(
    tools.map(({ name, description }) => [name, description]),
    [
      ['look', 'Looks closer'],
      ['maps__look', 'About places\n\nLooks'],
      ['maps__patch', 'Patches files'],
      ['see', undefined],
    ],
  );
  t.strictSame(messages, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
});

t.test('tool choice', async (t) => {
  const tools = [look, maps, patch, { type: 'web_search' }];
  const all = ['look', 'maps__look', 'maps__patch', 'patch'];
  const rows: readonly (readonly [choice: unknown, sent: unknown, names: readonly string[]])[] = [
    [undefined, 'auto', all],
    ['auto', 'auto', all],
    ['none', 'none', all],
    ['required', 'required', all],
    [{ type: 'function', name: 'look' }, { name: 'look' }, all],
    [{ type: 'function', name: 'look', namespace: 'maps' }, { name: 'maps__look' }, all],
    [{ type: 'custom', name: 'patch' }, { name: 'patch' }, all],
    [{ type: 'custom', name: 'patch', namespace: 'maps' }, { name: 'maps__patch' }, all],
    [allowed('auto', { type: 'function', name: 'look' }), 'auto', ['look']],
    [
      allowed(
        'required',
        { type: 'custom', name: 'patch' },
        { type: 'web_search' },
        { type: 'function', name: 'look', namespace: 'maps' },
      ),
      'required',
      ['maps__look', 'patch'],
    ],
    [allowed('auto', { type: 'web_search' }), 'none', []],
    [allowed('auto'), 'none', []],
  ];
  for (const [tool_choice, sent, names] of rows) {
    const call = await callOf({ tools, tool_choice });
    t.strictSame(call.toolChoice, sent, JSON.stringify(tool_choice));
    t.strictSame(
      call.tools.map(({ name }) => name),
      names,
    );
    const { tool_choice: echoed } = checkResponse(answerOf(await ask({ input: 'Hi', tools, tool_choice })));
    t.strictSame(echoed, tool_choice ?? 'auto');
  }
});

t.test('calls in the history have the names that the engine knows', async (t) => {
  const called = (call_id: string, fields: object) => [
    { type: 'function_call', call_id, name: 'look', arguments: '{}', ...fields },
    { type: 'function_call_output', call_id, output: 'ok' },
  ];
  const { messages } = await callOf({
    tools: [{ ...see, name: 'maps__look' }, maps, patch],
    input: [
      user,
      ...called('call_1', { namespace: 'maps' }),
      ...called('call_2', { namespace: 'gone' }),
      ...called('call_3', { namespace: '' }),
      ...called('call_4', { namespace: null }),
      {
        type: 'custom_tool_call',
        id: 'ctc_1',
        status: 'completed',
        call_id: 'call_5',
        name: 'patch',
        input: 'a "b"\n',
      },
      {
        type: 'custom_tool_call_output',
        id: 'ctco_1',
        call_id: 'call_5',
        output: [{ type: 'input_text', text: 'done' }],
      },
      { type: 'custom_tool_call', call_id: 'call_6', name: 'patch', namespace: 'maps', input: '' },
      { type: 'custom_tool_call_output', call_id: 'call_6', name: 'patch', output: 'done' },
    ],
  });
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  t.match(calls, [
    { id: 'call_1', name: /^maps__look_[0-9a-f]{8}$/, arguments: '{}' },
    { id: 'call_2', name: 'gone__look', arguments: '{}' },
    { id: 'call_3', name: 'look', arguments: '{}' },
    { id: 'call_4', name: 'look', arguments: '{}' },
    { id: 'call_5', name: 'patch', arguments: '{"input":"a \\"b\\"\\n"}' },
    { id: 'call_6', name: 'maps__patch', arguments: '{"input":""}' },
  ]);
  t.strictSame(
    messages.filter(({ role }) => role === 'tool').slice(-2),
    ['call_5', 'call_6'].map((callId) => ({
      role: 'tool',
      callId,
      content: [{ type: 'text', text: 'done' }],
    })),
  );
});

t.test('other items of the history', async (t) => {
  const { messages } = await callOf({
    input: [
      user,
      { type: 'item_reference', id: 'rs_1' },
      {
        type: 'reasoning',
        id: 'rs_2',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: 'gAA',
      },
      { type: 'reasoning', summary: [], content: [{ type: 'text', text: 'Hm' }], encrypted_content: null },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
      {
        type: 'local_shell_call',
        call_id: 'call_1',
        status: 'completed',
        action: { type: 'exec', command: [] },
      },
      { type: 'local_shell_call_output', id: 'call_1', output: '{}' },
      { type: 'computer_call_output', call_id: 'call_2', output: { type: 'computer_screenshot' } },
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'x', tools: [{ name: 'a', input_schema: {} }] },
      { role: 'assistant', content: 'Hello' },
      {
        type: 'agent_message',
        author: '/root/a',
        recipient: '/root',
        content: [{ type: 'input_text', text: 'Sender: /root/a' }],
      },
    ],
  });
  t.strictSame(messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello' }], toolCalls: [] },
    { role: 'user', content: [{ type: 'text', text: 'Sender: /root/a' }] },
  ]);
});

t.test('a strict format is passed on whatever its schema', async (t) => {
  const schema = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } };
  const { format } = await callOf({
    text: { format: { type: 'json_schema', name: 'a', strict: true, schema }, verbosity: 'low' },
  });
  t.strictSame(format, { type: 'json_schema', name: 'a', strict: true, schema });
});

// ── what comes back ────────────────────────────────────────────────────────────────────────────────

const callParts = (call: number, name: string, ...pieces: string[]): Part[] => [
  toolCall(call, name),
  ...pieces.map((piece) => toolArguments(call, piece)),
];
const parts: Part[] = [
  thought('Hm'),
  text('So'),
  ...callParts(0, 'look', '{"city":', '"Oslo"}'),
  ...callParts(1, 'maps__look', '{}'),
  ...callParts(2, 'patch', '{"inp', 'ut": "*** a', ' \\"b\\"\\', 'n', '😀"', '}'),
  ...callParts(3, 'maps__patch', '{"more":1,', '"input":"c"}'),
  ...callParts(4, 'patch'),
  ...callParts(5, 'unknown', '{}'),
  finish('tool_calls'),
  usage(7, 5),
];
const request = { input: 'Hi', tools: [look, maps, patch] };

t.test('calls come back as calls of the tools that the client has', async (t) => {
  const item = (at: number, type: string, fields: object) => ({
    type,
    id: `${type === 'function_call' ? 'fc' : 'ctc'}_0123_${at}`,
    status: 'completed',
    call_id: `call_${at - 2}`,
    ...fields,
  });
  const output = [
    { type: 'reasoning' },
    { type: 'message' },
    item(2, 'function_call', { name: 'look', arguments: '{"city":"Oslo"}' }),
    item(3, 'function_call', { name: 'look', namespace: 'maps', arguments: '{}' }),
    item(4, 'custom_tool_call', { name: 'patch', input: '*** a "b"\n😀' }),
    item(5, 'custom_tool_call', { name: 'patch', namespace: 'maps', input: 'c' }),
    item(6, 'custom_tool_call', { name: 'patch', input: '' }),
    item(7, 'function_call', { name: 'unknown', arguments: '{}' }),
  ];
  const whole = checkResponse(answerOf(await ask(request, harness(of(parts)))));
  t.match(whole.output, output);
  t.strictSame(whole.output.slice(2), output.slice(2));

  for (const arrivals of [of(parts), of(...parts.map((part) => [part]))]) {
    const stream = streamOf(await ask({ ...request, stream: true }, harness(arrivals)));
    const { response } = readEvents(stream);
    t.strictSame(response.output, whole.output);
    t.strictSame(
      dataOf(stream, 'response.custom_tool_call_input.delta').map(({ item_id, delta }) => [item_id, delta]),
      [
        ['ctc_0123_4', '*** a'],
        ['ctc_0123_4', ' "b"'],
        ['ctc_0123_4', '\n'],
        ['ctc_0123_4', '😀'],
        ['ctc_0123_5', 'c'],
      ],
    );
    t.match(dataOf(stream, 'response.custom_tool_call_input.done'), [
      { item_id: 'ctc_0123_4', output_index: 4, input: '*** a "b"\n😀' },
      { item_id: 'ctc_0123_5', output_index: 5, input: 'c' },
      { item_id: 'ctc_0123_6', output_index: 6, input: '' },
    ]);
    t.match(dataOf(stream, 'response.function_call_arguments.done')[1], { name: 'look', namespace: 'maps' });
    t.match(dataOf(stream, 'response.output_item.added')[5]?.item, {
      type: 'custom_tool_call',
      status: 'in_progress',
      name: 'patch',
      namespace: 'maps',
      input: '',
    });
  }
});

/** The data of all events of a type. */
const dataOf = (stream: string, type: string): Record<string, unknown>[] =>
  [...stream.matchAll(/^data: (.*)$/gm)]
    .map(([, data]) => JSON.parse(data ?? ''))
    .filter((event) => event.type === type);

t.test('a custom tool call that is cut or fails keeps what it has', async (t) => {
  const half = callParts(0, 'patch', '{"input":"ab', 'c\\');
  const cut = of([...half, finish('length'), usage(7, 5)]);
  const last = { type: 'custom_tool_call', status: 'incomplete', input: 'abc' };
  t.match(answerOf(await ask(request, harness(cut))), { status: 'incomplete', output: [last] });
  t.match(readEvents(streamOf(await ask({ ...request, stream: true }, harness(cut)))).response, {
    status: 'incomplete',
    output: [last],
  });
  const { response, error } = readEvents(
    streamOf(await ask({ ...request, stream: true }, harness(of(half)))),
  );
  t.match(error, { code: 'provider_unavailable' });
  t.match(response, { status: 'failed', output: [last] });
});
