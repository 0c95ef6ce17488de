/** Tests that invalid responses requests get an error that names the field and reach no engine. */
import t from 'tap';
import {
  checkAccepted,
  checkRefused,
  checkRefusedInSlot,
  closed,
  efforts,
  png,
  type Refused,
} from '../chat/refusals.ts';
import { refusal } from './fixtures.ts';

const user = { role: 'user', content: 'Hi' };
const ask = (fields: object) => ({ input: 'Hi', ...fields });
const items = (...input: unknown[]) => ({ input });
const part = (...content: unknown[]) => items({ role: 'user', content });
const see = (...content: unknown[]) => ({ model: 'mock/eye', ...part(...content) });
const output = (...parts: unknown[]) => ({
  model: 'mock/eye',
  ...items(call(), { type: 'function_call_output', call_id: 'call_1', output: parts }),
});
const call = (fields: object = {}) => ({
  type: 'function_call',
  call_id: 'call_1',
  name: 'look',
  arguments: '{}',
  ...fields,
});
const customCall = (fields: object = {}) => ({
  type: 'custom_tool_call',
  call_id: 'call_1',
  name: 'patch',
  input: 'x',
  ...fields,
});
const orphan = { type: 'function_call_output', call_id: 'call_9', output: 'x' };
const tool = (fields: object = {}) => ({ type: 'function', name: 'look', ...fields });
const custom = (fields: object = {}) => ({ type: 'custom', name: 'patch', ...fields });
const namespace = (...tools: unknown[]) => ({ type: 'namespace', name: 'maps', description: 'Maps', tools });
const allowed = (mode: string, ...tools: unknown[]) => ({ type: 'allowed_tools', mode, tools });
const toolName = '1 to 64 letters, digits, underscores and dashes';
const noTools =
  '400 tool_choice needs tools that run here (function, custom, namespace) unless it is none or auto';
const strict = (parameters: unknown) => ask({ tools: [tool({ strict: true, parameters })] });
const think = (fields: object) => ask({ model: 'mock/thinker', reasoning: fields });
const format = (fields: object) => ask({ text: { format: fields } });

const roles = '"user", "assistant", "system", "developer"';
const types = [
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
  ...['item_reference', 'additional_tools', 'tool_search_output', 'agent_message', 'reasoning'],
  ...['web_search_call', 'file_search_call', 'image_generation_call', 'code_interpreter_call'],
  ...['computer_call', 'computer_call_output', 'local_shell_call', 'local_shell_call_output', 'shell_call'],
  ...['shell_call_output', 'apply_patch_call', 'apply_patch_call_output', 'mcp_call', 'mcp_list_tools'],
  ...['mcp_approval_request', 'mcp_approval_response', 'tool_search_call', 'program', 'program_output'],
  ...['compaction', 'compaction_summary', 'context_compaction', 'compaction_trigger'],
]
  .map((type) => `"${type}"`)
  .join(', ');
const parts =
  '"input_text", "output_text", "refusal", "input_image", "input_file", "input_audio", "input_video", "reasoning_text", "encrypted_content"';

const cases: Refused = [
  // the body and its input
  [[], '400 The request body must be a JSON object, not an array'],
  [{}, '400 input is required'],
  [{ input: null }, '400 input must be a string or an array'],
  [{ input: 5 }, '400 input must be a string or an array'],
  [{ input: {} }, '400 input must be a string or an array'],
  [items(), '400 input must have at least 1 item'],
  [items(null), '400 input[0] must be an object'],
  [items('Hi'), '400 input[0] must be an object'],
  [items({}), '400 input[0].role is required'],
  [items({ content: 'Hi' }), '400 input[0].role is required'],
  [items({ type: 'message', content: 'Hi' }), '400 input[0].role is required'],
  [items({ role: 'robot', content: 'Hi' }), `400 input[0].role must be one of ${roles}`],
  [items(user, { role: 'tool', content: 'Hi' }), `400 input[1].role must be one of ${roles}`],
  [items({ type: 'web_search_calls', id: 'ws_1' }), `400 input[0].type must be one of ${types}`],
  [items({ type: 7 }), `400 input[0].type must be one of ${types}`],
  [items({ role: 'user' }), '400 input[0].content is required'],
  [items({ role: 'user', content: null }), '400 input[0].content is required'],
  [items({ role: 'assistant' }), '400 input[0].content is required'],
  [items({ role: 'user', content: 5 }), '400 input[0].content must be a string or an array'],
  [items({ role: 'user', content: [] }), '400 input[0].content must have at least 1 item'],
  [items({ role: 'system', content: [] }, user), '400 input[0].content must have at least 1 item'],
  [items({ type: 'reasoning', id: 'rs_1', summary: [] }), '400 input must hold a message or a function call'],
  [items({ type: 'web_search_call', id: 'ws_1' }), '400 input must hold a message or a function call'],
  [
    items(user, { type: 'compaction', encrypted_content: 'gAAAA' }),
    '400 input[1].type compaction is not supported: send the conversation itself',
  ],
  [
    items(user, { type: 'compaction_trigger' }),
    '400 input[1].type compaction_trigger is not supported: send the conversation itself',
  ],
  [items({ type: 'agent_message', author: '/root' }), '400 input[0].content is required'],
  [
    items({ type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content: 'gAAAA' }] }),
    '400 input[0].content[0].type encrypted_content is not supported on input that is not an assistant message',
  ],
  // what is not stored
  [
    items(user, { type: 'item_reference', id: 'msg_1' }),
    '400 input[1].type item_reference is not supported: nothing is stored, so send the item itself (clients do with store: false)',
  ],
  [
    items(user, { type: 'item_reference', id: 'fc_1' }),
    '400 input[1].type item_reference is not supported: nothing is stored, so send the item itself (clients do with store: false)',
  ],
  [items(user, { type: 'item_reference' }), '400 input[1].id is required'],
  [items(user, { type: 'item_reference', id: 7 }), '400 input[1].id must be a string'],
  [
    ask({ previous_response_id: 'resp_1' }),
    '400 previous_response_id is not supported: nothing is stored, so send it all in input',
  ],
  [
    ask({ conversation: 'conv_1' }),
    '400 conversation is not supported: nothing is stored, so send it all in input',
  ],
  [
    ask({ conversation: { id: 'conv_1' } }),
    '400 conversation is not supported: nothing is stored, so send it all in input',
  ],
  [
    ask({ prompt: { id: 'pmpt_1' } }),
    '400 prompt is not supported: nothing is stored, so send it all in input',
  ],
  [ask({ background: true }), '400 background must be false: a response is not kept after its request'],
  [ask({ background: 'yes' }), '400 background must be true or false'],
  // content parts
  [part('Hi'), '400 input[0].content[0] must be an object'],
  [part({}), '400 input[0].content[0].type is required'],
  [part({ type: 'text', text: 'Hi' }), `400 input[0].content[0].type must be one of ${parts}`],
  [part({ type: 'input_text' }), '400 input[0].content[0].text is required'],
  [part({ type: 'input_text', text: 1 }), '400 input[0].content[0].text must be a string'],
  [
    part({ type: 'refusal', refusal: 'No' }),
    '400 input[0].content[0].type refusal is not supported on input that is not an assistant message',
  ],
  [
    part({ type: 'reasoning_text', text: 'Hm' }),
    '400 input[0].content[0].type reasoning_text is not supported on input that is not an assistant message',
  ],
  [
    items(user, { role: 'assistant', content: [{ type: 'reasoning_text', text: 'Hm' }] }),
    '400 input[1].content[0].type reasoning_text is not supported on messages of role assistant',
  ],
  [
    items(user, { role: 'assistant', content: [{ type: 'refusal' }] }),
    '400 input[1].content[0].refusal is required',
  ],
  [
    {
      model: 'mock/eye',
      ...items({ role: 'assistant', content: [{ type: 'input_image', image_url: png }] }),
    },
    '400 input[0].content[0].type input_image is not supported on messages of role assistant',
  ],
  [
    {
      model: 'mock/eye',
      ...items({ role: 'developer', content: [{ type: 'input_file', file_data: png }] }, user),
    },
    '400 input[0].content[0].type input_file is not supported on messages of role developer',
  ],
  [see({ type: 'input_image' }), '400 input[0].content[0].image_url is required'],
  [see({ type: 'input_image', image_url: null }), '400 input[0].content[0].image_url is required'],
  [
    see({ type: 'input_image', image_url: { url: png } }),
    '400 input[0].content[0].image_url must be a string',
  ],
  [
    see({ type: 'input_image', file_id: 'file-1' }),
    '400 input[0].content[0].file_id is not supported: send the image as image_url',
  ],
  [
    see({ type: 'input_image', image_url: png, detail: 'huge' }),
    '400 input[0].content[0].detail must be one of "auto", "low", "high", "original"',
  ],
  [
    part({ type: 'input_image', image_url: png }),
    '400 input[0].content[0]: model mock/chat takes no image input',
  ],
  [see({ type: 'input_video' }), '400 input[0].content[0].video_url is required'],
  [see({ type: 'input_audio' }), '400 input[0].content[0].input_audio is required'],
  [
    see({ type: 'input_audio', input_audio: { format: 'wav' } }),
    '400 input[0].content[0].input_audio.data is required',
  ],
  [
    part({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    '400 input[0].content[0]: model mock/chat takes no audio input',
  ],
  [part({ type: 'input_file' }), '400 input[0].content[0].file_data is required'],
  [part({ type: 'input_file', file_data: 9 }), '400 input[0].content[0].file_data must be a string'],
  [part({ type: 'input_file', file_url: 9 }), '400 input[0].content[0].file_url must be a string'],
  [
    part({ type: 'input_file', file_id: 'file-1' }),
    '400 input[0].content[0].file_id is not supported: send the document as file_data',
  ],
  [
    see(...Array(65).fill({ type: 'input_image', image_url: png })),
    '400 input must not have more than 64 media and document parts',
  ],
  // function calls and their outputs
  [items(user, call({ call_id: undefined })), '400 input[1].call_id is required'],
  [items(user, call({ call_id: '' })), '400 input[1].call_id must not be empty'],
  [items(user, call({ name: undefined })), '400 input[1].name is required'],
  [items(user, call({ arguments: undefined })), '400 input[1].arguments is required'],
  [items(user, call({ arguments: {} })), '400 input[1].arguments must be a string'],
  [items(user, call()), '400 input[1] needs a function_call_output after it'],
  [
    items(user, call(), { role: 'assistant', content: 'Let me look' }),
    '400 input[1] needs a function_call_output after it',
  ],
  [items(call(), { type: 'function_call_output', output: 'x' }), '400 input[1].call_id is required'],
  [
    items(user, call(), { type: 'function_call_output', call_id: 'call_1', output: 'x' }, orphan),
    '400 input[3].call_id must be the id of a call before it: there is no call_9',
  ],
  [
    items({ ...orphan, type: 'custom_tool_call_output' }),
    '400 input[0].call_id must be the id of a call before it: there is no call_9',
  ],
  [items(user, customCall({ input: undefined })), '400 input[1].input is required'],
  [items(user, customCall({ input: {} })), '400 input[1].input must be a string'],
  [items(user, customCall({ name: undefined })), '400 input[1].name is required'],
  [items(user, customCall()), '400 input[1] needs a function_call_output after it'],
  [items(call(), { type: 'function_call_output', call_id: 'call_1' }), '400 input[1].output is required'],
  [
    items(call(), { type: 'function_call_output', call_id: 'call_1', output: { a: 1 } }),
    '400 input[1].output must be a string or an array',
  ],
  [output({ type: 'input_text' }), '400 input[1].output[0].text is required'],
  [
    output({ type: 'refusal', refusal: 'No' }),
    '400 input[1].output[0].type refusal is not supported on input that is not an assistant message',
  ],
  // plain fields
  [ask({ model: '' }), '400 model must not be empty'],
  [ask({ model: 5 }), '400 model must be a string'],
  [ask({ model: 'mock/none' }), '404 There is no model mock/none'],
  [ask({ instructions: 5 }), '400 instructions must be a string'],
  [ask({ stream: 'yes' }), '400 stream must be true or false'],
  [ask({ max_output_tokens: 0 }), '400 max_output_tokens must be at least 1'],
  [ask({ max_output_tokens: 1.5 }), '400 max_output_tokens must be an integer'],
  [ask({ temperature: 2.1 }), '400 temperature must be between 0 and 2'],
  [ask({ top_p: -1 }), '400 top_p must be between 0 and 1'],
  [ask({ top_k: -1 }), '400 top_k must be between 0 and 2147483647'],
  [ask({ presence_penalty: 3 }), '400 presence_penalty must be between -2 and 2'],
  [ask({ frequency_penalty: -3 }), '400 frequency_penalty must be between -2 and 2'],
  [ask({ seed: 'x' }), '400 seed must be an integer'],
  [ask({ top_logprobs: 21 }), '400 top_logprobs must be between 0 and 20'],
  [ask({ include: 'x' }), '400 include must be an array'],
  [ask({ parallel_tool_calls: 1 }), '400 parallel_tool_calls must be true or false'],
  [ask({ user: 1 }), '400 user must be a string'],
  [ask({ metadata: 'x' }), '400 metadata must be an object'],
  [ask({ metadata: { a: 1 } }), '400 metadata.a must be a string'],
  [ask({ metadata: { a: 'x'.repeat(513) } }), '400 metadata.a must have at most 512 characters'],
  [ask({ metadata: { ['k'.repeat(65)]: 'x' } }), '400 metadata must have keys of at most 64 characters'],
  [
    ask({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'x'])) }),
    '400 metadata must have at most 16 fields',
  ],
  // tools
  [ask({ tools: {} }), '400 tools must be an array'],
  [ask({ tools: [{ name: 'look' }] }), '400 tools[0].type is required'],
  [ask({ tools: [tool(), null] }), '400 tools[1] must be an object'],
  [ask({ tools: [tool(), {}] }), '400 tools[1].type is required'],
  [ask({ tools: [{ type: 7 }] }), '400 tools[0].type must be 1 to 64 characters'],
  [ask({ tools: [{ type: '' }] }), '400 tools[0].type must be 1 to 64 characters'],
  [ask({ tools: [{ type: 'x'.repeat(65) }] }), '400 tools[0].type must be 1 to 64 characters'],
  [ask({ tools: [{ type: 'custom' }] }), '400 tools[0].name is required'],
  [ask({ tools: [custom({ name: '' })] }), `400 tools[0].name must be ${toolName}`],
  [ask({ tools: [custom({ description: 1 })] }), '400 tools[0].description must be a string'],
  [ask({ tools: [custom({ format: 'text' })] }), '400 tools[0].format must be an object'],
  [
    ask({ tools: [custom({ format: { type: 'xml' } })] }),
    '400 tools[0].format.type must be one of "text", "grammar"',
  ],
  [
    ask({ tools: [custom({ format: { type: 'grammar', syntax: 'lark' } })] }),
    '400 tools[0].format.definition is required',
  ],
  [
    ask({ tools: [custom({ format: { type: 'grammar', syntax: 'ebnf', definition: '' } })] }),
    '400 tools[0].format.syntax must be one of "lark", "regex"',
  ],
  [ask({ tools: [{ type: 'namespace', tools: [] }] }), '400 tools[0].name is required'],
  [ask({ tools: [{ type: 'namespace', name: 'maps' }] }), '400 tools[0].tools is required'],
  [ask({ tools: [namespace({ type: 'function' })] }), '400 tools[0].tools[0].name is required'],
  [
    ask({ tools: [namespace(tool(), { type: 'web_search' })] }),
    '400 tools[0].tools[1].type must be one of "function", "custom"',
  ],
  [
    ask({ tools: [namespace(tool({ strict: true, parameters: { type: 'string' } }))] }),
    '400 tools[0].tools[0].parameters.type must be object when strict is true',
  ],
  [
    ask({ tools: [namespace(...Array(1024).fill(tool())), tool()] }),
    '400 tools must have at most 1024 items, those in namespaces and in input included',
  ],
  [items(user, { type: 'additional_tools', role: 'developer' }), '400 input[1].tools is required'],
  [
    items(user, { type: 'additional_tools', role: 'developer', tools: [tool(), { type: 'custom' }] }),
    '400 input[1].tools[1].name is required',
  ],
  [
    items(user, { type: 'tool_search_output', tools: [namespace(tool({ strict: 1 }))] }),
    '400 input[1].tools[0].tools[0].strict must be true or false',
  ],
  [ask({ tools: [{ type: 'function', function: { name: 'look' } }] }), '400 tools[0].name is required'],
  [ask({ tools: [tool({ name: 'look at' })] }), `400 tools[0].name must be ${toolName}`],
  [ask({ tools: [tool({ description: 1 })] }), '400 tools[0].description must be a string'],
  [ask({ tools: [tool({ parameters: [] })] }), '400 tools[0].parameters must be an object'],
  [ask({ tools: [tool({ strict: 'x' })] }), '400 tools[0].strict must be true or false'],
  [strict({ type: 'string' }), '400 tools[0].parameters.type must be object when strict is true'],
  [
    strict({ ...closed, additionalProperties: true }),
    '400 tools[0].parameters.additionalProperties must be false when strict is true',
  ],
  [ask({ tool_choice: 'required' }), noTools],
  [ask({ tool_choice: { type: 'function', name: 'look' } }), noTools],
  [ask({ tools: [{ type: 'web_search' }], tool_choice: 'required' }), noTools],
  [ask({ tools: [{ type: 'web_search' }], tool_choice: { type: 'custom', name: 'look' } }), noTools],
  [ask({ tools: [tool()], tool_choice: allowed('required', { type: 'web_search' }) }), noTools],
  [ask({ tools: [tool()], tool_choice: allowed('required') }), noTools],
  [
    ask({ tools: [tool()], tool_choice: allowed('none') }),
    '400 tool_choice.mode must be one of "auto", "required"',
  ],
  [
    ask({ tools: [tool()], tool_choice: { type: 'allowed_tools', mode: 'auto' } }),
    '400 tool_choice.tools is required',
  ],
  [
    ask({ tools: [tool()], tool_choice: allowed('auto', tool(), { type: 'function' }) }),
    '400 tool_choice.tools[1].name is required',
  ],
  [
    ask({ tools: [tool()], tool_choice: allowed('auto', tool(), { type: 'custom', name: 'see' }) }),
    '400 tool_choice.tools[1].name must name one of tools: there is no see',
  ],
  [
    ask({ tools: [tool()], tool_choice: { ...tool(), namespace: 'maps' } }),
    '400 tool_choice.name must name one of tools: there is no look in maps',
  ],
  [
    ask({ tools: [namespace(tool())], tool_choice: tool() }),
    '400 tool_choice.name must name one of tools: there is no look',
  ],
  [
    ask({ tools: [tool()], tool_choice: { type: 'function', name: 'see' } }),
    '400 tool_choice.name must name one of tools: there is no see',
  ],
  [ask({ tools: [tool()], tool_choice: { type: 'function' } }), '400 tool_choice.name is required'],
  [
    ask({ tools: [tool()], tool_choice: 'any' }),
    '400 tool_choice must be one of "none", "auto", "required" or an object',
  ],
  [ask({ tools: [tool()], tool_choice: {} }), '400 tool_choice.type is required'],
  [
    ask({ tools: [tool(), { type: 'web_search' }], tool_choice: { type: 'web_search' } }),
    '400 tool_choice.type web_search demands a tool that does not run here',
  ],
  // fields of other formats
  [ask({ max_tokens: 1 }), '400 max_tokens is not supported on /responses: use max_output_tokens'],
  [
    ask({ max_completion_tokens: 5 }),
    '400 max_completion_tokens is not supported on /responses: use max_output_tokens',
  ],
  [
    ask({ reasoning_effort: 'low' }),
    '400 reasoning_effort is not supported on /responses: use reasoning.effort',
  ],
  [ask({ response_format: {} }), '400 response_format is not supported on /responses: use text.format'],
  [ask({ logprobs: true }), '400 logprobs is not supported on /responses: use top_logprobs'],
  [ask({ n: 2 }), '400 n is not supported on /responses'],
  [ask({ stop: 'x' }), '400 stop is not supported on /responses'],
  [ask({ logit_bias: { 50256: -100 } }), '400 logit_bias is not supported on /responses'],
  // the format
  [ask({ text: 'json' }), '400 text must be an object'],
  [format({}), '400 text.format.type is required'],
  [format({ type: 'xml' }), '400 text.format.type must be one of "text", "json_object", "json_schema"'],
  [format({ type: 'json_schema', schema: closed }), '400 text.format.name is required'],
  [format({ type: 'json_schema', name: 'a' }), '400 text.format.schema is required'],
  [
    format({ type: 'json_schema', name: 'a b', schema: closed }),
    '400 text.format.name must be 1 to 64 letters, digits, underscores and dashes',
  ],
  // reasoning
  [think({ effort: 'enormous' }), `400 reasoning.effort must be one of ${efforts}`],
  [
    think({ effort: 'xhigh' }),
    '400 reasoning.effort must be one of none, low, medium, high for model mock/thinker',
  ],
  [think({ summary: 'long' }), '400 reasoning.summary must be one of "auto", "concise", "detailed"'],
  [think({ max_tokens: 0 }), '400 reasoning.max_tokens must be at least 1'],
  [
    { ...think({ max_tokens: 50 }), max_output_tokens: 50 },
    '400 reasoning.max_tokens must be below the completion limit of 50 tokens',
  ],
  [
    ask({ reasoning: { effort: 'low' } }),
    '400 reasoning.effort must be none: model mock/chat does not reason',
  ],
  [
    ask({ model: 'mock/always', reasoning: { effort: 'none' } }),
    '400 reasoning.effort must not turn reasoning off: model mock/always always reasons',
  ],
];

t.test(`${cases.length} invalid requests are refused`, (t) => checkRefused(t, refusal, cases));

const costly: Refused = [
  [
    see(
      { type: 'input_text', text: 'See' },
      { type: 'input_image', image_url: 'data:text/html;base64,AAAA' },
    ),
    '400 input[0].content[1].image_url must be an image, not text/html',
  ],
  [
    see({ type: 'input_video', video_url: png }),
    '400 input[0].content[0].video_url must be a video, not image/png',
  ],
  [
    part({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,YnJva2Vu' }),
    '400 input[0].content[0].file_data: the document cannot be read',
  ],
  [
    output({ type: 'input_image', image_url: 'data:text/html;base64,AAAA' }),
    '400 input[1].output[0].image_url must be an image, not text/html',
  ],
  [
    { model: 'mock/small', input: 'word '.repeat(300) },
    "400 prompt is too long: 308 tokens > 224 maximum. This model's maximum context length is 256 tokens; shorten input",
  ],
];

t.test(`${costly.length} requests that are refused for what they hold have a slot meanwhile`, (t) =>
  checkRefusedInSlot(t, refusal, costly),
);

const ignored = {
  store: true,
  service_tier: 'auto',
  truncation: 'auto',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: {},
  safety_identifier: 's',
  stream_options: { include_obfuscation: false },
  max_tool_calls: 3,
  background: false,
  context_management: [],
  provider: { order: ['x'] },
  unknown: { field: [1] },
  client_metadata: { session_id: 's' },
  moderation: { model: 'x' },
  max_tokens: null,
  logprobs: false,
  n: 1,
};

t.test('unusual but valid requests are accepted', async (t) => {
  const fine = [
    ask({ text: { verbosity: 'low' } }),
    ask(ignored),
    ask({
      model: null,
      instructions: null,
      previous_response_id: null,
      conversation: null,
      prompt: null,
      background: null,
      tools: null,
      tool_choice: null,
      reasoning: null,
      text: null,
      metadata: null,
      max_output_tokens: null,
      temperature: null,
      include: null,
      user: null,
    }),
    ask({ tool_choice: 'auto' }),
    ask({ tool_choice: 'none' }),
    ask({ tools: [], tool_choice: 'auto' }),
    ask({ tools: [tool({ description: null, parameters: null, strict: null })] }),
    ask({ reasoning: { effort: null, summary: null } }),
    ask({ include: ['reasoning.encrypted_content', 'file_search_call.results'] }),
    ask({ text: { format: null } }),
    ask({ input: '' }),
    items({ role: 'user', content: '' }),
    items({ ...user, id: null, status: null, type: 'message' }),
    items(user, { role: 'assistant', content: [] }),
    items(user, { role: 'assistant', content: 'The end' }),
    items({ ...user, type: null }),
    items(user, { type: 'item_reference', id: 'rs_1' }),
    items(user, { type: 'reasoning', summary: 7, content: [{ type: 'text' }], encrypted_content: 'gAAAA' }),
    ask({ tools: [{ type: 'web_search', name: 7, tools: 'x' }] }),
    ask({
      tools: [{ type: 'mcp', server_label: 'x' }],
      tool_choice: allowed('auto', { type: 'mcp', server_label: 'x' }),
    }),
    ask({ tools: [custom({ description: null, format: null })] }),
    ask({
      tools: [namespace(), namespace(tool({ strict: null })), { type: 'namespace', name: 'x', tools: [] }],
    }),
  ];
  await checkAccepted(t, refusal, fine);
});
