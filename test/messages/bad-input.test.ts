/** Tests that invalid messages requests get an error that names the field and reach no engine. */
import t from 'tap';
import { ask, count, harness, refusal } from './fixtures.ts';

const user = { role: 'user', content: 'Hi' };
const assistant = { role: 'assistant', content: 'Well' };
const base = { model: 'mock/chat', max_tokens: 4096 };
const with_ = (fields: object) => ({ ...base, messages: [user], ...fields });
const say = (...messages: unknown[]) => ({ ...base, messages });
const blocks = (role: string, ...content: unknown[]) => ({ role, content });
const part = (...content: unknown[]) => say(blocks('user', ...content));
const see = (...content: unknown[]) => ({ ...part(...content), model: 'mock/eye' });
const replay = (...content: unknown[]) => say(user, blocks('assistant', ...content), user);
const think = (fields: object) => with_({ model: 'mock/thinker', ...fields });
const look = { name: 'look', input_schema: { type: 'object' } };
const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
const format = { type: 'json_schema', schema: {} };
const image = { type: 'image', source: png };
const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' };

const called = (...content: unknown[]) => say(user, blocks('assistant', use), blocks('user', ...content));
const document = (source: object, fields: object = {}) => ({ type: 'document', source, ...fields });
const found = { type: 'search_result', source: 'https://a.example', title: 'A', content: [] };

const blockTypes =
  '"text", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", ' +
  '"web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result", ' +
  '"text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "mcp_tool_use", ' +
  '"mcp_tool_result", "mcp_tool_listing", "fallback", "image", "document", "search_result", "compaction"';
const resultTypes = '"text", "image", "document", "search_result", "tool_reference"';
const sources = '"base64", "url", "text", "content"';
const efforts = '"minimal", "low", "medium", "high", "xhigh", "max", "ultra"';

const uncompacted = 'is not supported: conversations are not compacted here';
const serverTool = 'is not supported: server tools are not run here, and other tools need an input_schema';

/** Of both routes. */
const prompts: readonly (readonly [body: unknown, refusal: string])[] = [
  [[], '400 The request body must be a JSON object, not an array'],
  // model
  [{ ...with_({}), model: undefined }, '400 model is required'],
  [with_({ model: null }), '400 model must be a string'],
  [with_({ model: 5 }), '400 model must be a string'],
  [with_({ model: '' }), '400 model must not be empty'],
  [with_({ model: 'x'.repeat(513) }), '400 model must have at most 512 characters'],
  [with_({ model: 'mock/none' }), '404 There is no model mock/none'],
  // messages
  [base, '400 messages is required'],
  [with_({ messages: null }), '400 messages must be an array'],
  [with_({ messages: 'Hi' }), '400 messages must be an array'],
  [say(), '400 messages must have at least 1 item'],
  [say('Hi'), '400 messages[0] must be an object'],
  [say({ content: 'Hi' }), '400 messages[0].role is required'],
  [say({ role: 'tool', content: 'Hi' }), '400 messages[0].role must be one of "user", "assistant", "system"'],
  [
    say(user, { role: 'developer', content: 'Hi' }),
    '400 messages[1].role must be one of "user", "assistant", "system"',
  ],
  [say({ role: 'user' }), '400 messages[0].content is required'],
  [say({ role: 'user', content: null }), '400 messages[0].content must be a string or an array'],
  [say({ role: 'user', content: 5 }), '400 messages[0].content must be a string or an array'],
  [say({ role: 'user', content: [] }), '400 messages[0].content must have at least 1 item'],
  [say({ ...user, clear_at: 'turn_end' }), '400 messages[0].clear_at must be "never"'],
  [say({ ...user, clear_at: 1 }), '400 messages[0].clear_at must be "never"'],
  [
    say({ ...user, output_config: { effort: 'low' } }),
    '400 messages[0].output_config is not supported: it belongs to the whole request',
  ],
  [
    say(user, { role: 'system', content: [{ type: 'text', text: 'Be brief' }], output_config: {} }),
    '400 messages[1].output_config is not supported: it belongs to the whole request',
  ],
  // system messages and their place
  [
    say({ role: 'system', content: 'Be brief' }, user),
    '400 messages[0].role system must follow a user message',
  ],
  [
    say(user, assistant, { role: 'system', content: 'Be brief' }),
    '400 messages[2].role system must follow a user message',
  ],
  [
    say(user, { role: 'system', content: 'Be brief' }, { role: 'system', content: 'Be kind' }),
    '400 messages[1].role system must be last or precede an assistant message',
  ],
  [
    say(user, { role: 'system', content: 'Be brief' }, user),
    '400 messages[1].role system must be last or precede an assistant message',
  ],
  [
    { ...say(user, blocks('system', image)), model: 'mock/eye' },
    '400 messages[1].content[0].type image is not supported on messages of role system',
  ],
  [
    say(user, blocks('system', { type: 'text', text: 'a' }, result)),
    '400 messages[1].content[1].type tool_result is not supported on messages of role system',
  ],
  [
    say(user, blocks('system', { type: 'thinking', thinking: '', signature: '' })),
    '400 messages[1].content[0].type thinking is not supported on messages of role system',
  ],
  [say(user, blocks('system')), '400 messages[1].content must have at least 1 item'],
  // blocks
  [part('Hi'), '400 messages[0].content[0] must be an object'],
  [part({}), '400 messages[0].content[0].type is required'],
  [part({ type: 'container_upload' }), `400 messages[0].content[0].type must be one of ${blockTypes}`],
  [
    part({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    '400 messages[0].content[0].type server_tool_use is not supported on messages of role user',
  ],
  [part({ type: 'text' }), '400 messages[0].content[0].text is required'],
  [part({ type: 'text', text: 5 }), '400 messages[0].content[0].text must be a string'],
  [part(use), '400 messages[0].content[0].type tool_use is not supported on messages of role user'],
  [
    part({ type: 'thinking', thinking: 'Hm', signature: 'x' }),
    '400 messages[0].content[0].type thinking is not supported on messages of role user',
  ],
  [
    part({ type: 'redacted_thinking', data: 'x' }),
    '400 messages[0].content[0].type redacted_thinking is not supported on messages of role user',
  ],
  [
    replay(result),
    '400 messages[1].content[0].type tool_result is not supported on messages of role assistant',
  ],
  [
    { ...replay(image), model: 'mock/eye' },
    '400 messages[1].content[0].type image is not supported on messages of role assistant',
  ],
  // images
  [part(image), '400 messages[0].content[0]: model mock/chat takes no image input'],
  [see({ type: 'image' }), '400 messages[0].content[0].source is required'],
  [see({ type: 'image', source: 'x' }), '400 messages[0].content[0].source must be an object'],
  [see({ type: 'image', source: {} }), '400 messages[0].content[0].source.type is required'],
  [
    see({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
    '400 messages[0].content[0].source.type must be one of "base64", "url"',
  ],
  [
    see({ type: 'image', source: { ...png, data: undefined } }),
    '400 messages[0].content[0].source.data is required',
  ],
  [
    see({ type: 'image', source: { ...png, data: 5 } }),
    '400 messages[0].content[0].source.data must be a string',
  ],
  [
    see({ type: 'image', source: { ...png, media_type: undefined } }),
    '400 messages[0].content[0].source.media_type is required',
  ],
  [see({ type: 'image', source: { type: 'url' } }), '400 messages[0].content[0].source.url is required'],
  [
    see({ type: 'image', source: { type: 'url', url: 5 } }),
    '400 messages[0].content[0].source.url must be a string',
  ],
  // documents and search results
  [part({ type: 'document' }), '400 messages[0].content[0].source is required'],
  [part(document({})), '400 messages[0].content[0].source.type is required'],
  [
    part(document({ type: 'file', file_id: 'file_1' })),
    `400 messages[0].content[0].source.type must be one of ${sources}`,
  ],
  [
    part(document({ type: 'base64', data: 'AAAA' })),
    '400 messages[0].content[0].source.media_type is required',
  ],
  [
    part(document({ type: 'base64', media_type: 'application/pdf', data: 5 })),
    '400 messages[0].content[0].source.data must be a string',
  ],
  [part(document({ type: 'url' })), '400 messages[0].content[0].source.url is required'],
  [part(document({ type: 'url', url: 5 })), '400 messages[0].content[0].source.url must be a string'],
  [part(document({ type: 'text', data: {} })), '400 messages[0].content[0].source.data must be a string'],
  [part(document({ type: 'content' })), '400 messages[0].content[0].source.content is required'],
  [
    part(document({ type: 'content', content: [found] })),
    '400 messages[0].content[0].source.content[0].type must be one of "text", "image"',
  ],
  [
    part(document({ type: 'content', content: [image] })),
    '400 messages[0].content[0].source.content[0]: model mock/chat takes no image input',
  ],
  [
    part(document({ type: 'text', data: 'a' }, { title: 5 })),
    '400 messages[0].content[0].title must be a string',
  ],
  [
    part(document({ type: 'text', data: 'a' }, { context: [] })),
    '400 messages[0].content[0].context must be a string',
  ],
  [
    part(document({ type: 'base64', media_type: 'application/pdf', data: 'YnJva2Vu' })),
    '400 messages[0].content[0].source.data: the document cannot be read',
  ],
  [
    called({ ...result, content: [document({ type: 'url', url: 'data:text/plain;base64,YnJva2Vu' })] }),
    '400 messages[2].content[0].content[0].source.url: the document cannot be read',
  ],
  [
    part(...Array(65).fill(document({ type: 'url', url: 'data:text/plain;base64,SGk=' }))),
    '400 messages must not have more than 64 media and document parts',
  ],
  [
    replay(document({ type: 'text', data: 'a' })),
    '400 messages[1].content[0].type document is not supported on messages of role assistant',
  ],
  [part({ ...found, title: undefined }), '400 messages[0].content[0].title is required'],
  [part({ ...found, source: {} }), '400 messages[0].content[0].source must be a string'],
  [part({ ...found, content: 'A' }), '400 messages[0].content[0].content must be an array'],
  [part({ ...found, content: [image] }), '400 messages[0].content[0].content[0].type must be "text"'],
  [
    replay(found),
    '400 messages[1].content[0].type search_result is not supported on messages of role assistant',
  ],
  // tool_use
  [replay({ ...use, id: undefined }), '400 messages[1].content[0].id is required'],
  [replay({ ...use, id: '' }), '400 messages[1].content[0].id must not be empty'],
  [replay({ ...use, name: undefined }), '400 messages[1].content[0].name is required'],
  [
    replay({ ...use, name: 'x'.repeat(201) }),
    '400 messages[1].content[0].name must have at most 200 characters',
  ],
  [replay({ ...use, input: undefined }), '400 messages[1].content[0].input is required'],
  [replay({ ...use, input: '{}' }), '400 messages[1].content[0].input must be an object'],
  // tool_result
  [part({ ...result, tool_use_id: undefined }), '400 messages[0].content[0].tool_use_id is required'],
  [part({ ...result, tool_use_id: '' }), '400 messages[0].content[0].tool_use_id must not be empty'],
  [part({ ...result, content: 5 }), '400 messages[0].content[0].content must be a string or an array'],
  [part({ ...result, is_error: 'yes' }), '400 messages[0].content[0].is_error must be true or false'],
  [
    part({ ...result, content: [use] }),
    `400 messages[0].content[0].content[0].type must be one of ${resultTypes}`,
  ],
  [
    part({ ...result, content: [{ type: 'text' }] }),
    '400 messages[0].content[0].content[0].text is required',
  ],
  [
    see({ ...result, content: [{ type: 'image' }] }),
    '400 messages[0].content[0].content[0].source is required',
  ],
  [
    called({ ...result, content: [image] }),
    '400 messages[2].content[0].content[0]: model mock/chat takes no image input',
  ],
  [
    part({ type: 'text', text: 'So' }, result),
    '400 messages[0].content[1].tool_use_id must be the id of a tool_use block before it: there is no toolu_1',
  ],
  [
    called(result, { ...result, tool_use_id: 'toolu_2' }),
    '400 messages[2].content[1].tool_use_id must be the id of a tool_use block before it: there is no toolu_2',
  ],
  [
    say(blocks('user', result), blocks('assistant', use), blocks('user', result)),
    '400 messages[0].content[0].tool_use_id must be the id of a tool_use block before it: there is no toolu_1',
  ],
  // a final assistant message
  [
    say(user, blocks('assistant', { type: 'text', text: 'So' }, use)),
    '400 messages[1].content must not hold tool_use: a final assistant message is continued',
  ],
  [
    { ...say(user, { role: 'assistant', content: ' \n' }), system: 'Be brief' },
    '400 messages[1].content must have text: a final assistant message is continued',
  ],
  [
    say(user, blocks('assistant', { type: 'thinking', thinking: 'Hm', signature: 'x' })),
    '400 messages[1].content must have text: a final assistant message is continued',
  ],
  // system
  [with_({ system: 5 }), '400 system must be a string or an array'],
  [with_({ system: ['Be brief'] }), '400 system[0] must be an object'],
  [with_({ system: [{ text: 'a' }] }), '400 system[0].type is required'],
  [with_({ system: [image] }), '400 system[0].type must be "text"'],
  [with_({ system: [{ type: 'text' }] }), '400 system[0].text is required'],
  // effort
  [with_({ output_config: 'low' }), '400 output_config must be an object'],
  [think({ output_config: { effort: 'none' } }), `400 output_config.effort must be one of ${efforts}`],
  [think({ output_config: { effort: 3 } }), `400 output_config.effort must be one of ${efforts}`],
  [
    think({ output_config: { effort: 'ultra' } }),
    '400 output_config.effort must be one of low, medium, high for model mock/thinker',
  ],
  [
    think({ output_config: { effort: 'ultra' }, thinking: { type: 'disabled' } }),
    '400 output_config.effort must be one of low, medium, high for model mock/thinker',
  ],
  [with_({ output_config: { effort: 'none' } }), `400 output_config.effort must be one of ${efforts}`],
  [
    with_({ model: 'mock/always', output_config: { effort: 'medium' } }),
    '400 output_config.effort must be one of low, high for model mock/always',
  ],
  [
    with_({ output_config: { format: { type: 'json_schema' } } }),
    '400 output_config.format.schema is required',
  ],
  [
    with_({ output_config: { format: { type: 'xml', schema: {} } } }),
    '400 output_config.format.type must be "json_schema"',
  ],
  [with_({ output_format: { type: 'json_schema' } }), '400 output_format.schema is required'],
  [
    with_({ output_config: { format }, output_format: format }),
    '400 output_format must not be set beside output_config.format',
  ],
  // thinking
  [with_({ thinking: true }), '400 thinking must be an object'],
  [with_({ thinking: {} }), '400 thinking.type is required'],
  [
    with_({ thinking: { type: 'auto' } }),
    '400 thinking.type must be one of "enabled", "adaptive", "disabled"',
  ],
  [
    think({ thinking: { type: 'enabled' } }),
    '400 thinking.budget_tokens is required when thinking is enabled',
  ],
  [
    think({ thinking: { type: 'enabled', budget_tokens: 1023 } }),
    '400 thinking.budget_tokens must be at least 1024',
  ],
  [
    think({ thinking: { type: 'enabled', budget_tokens: 2048.5 } }),
    '400 thinking.budget_tokens must be an integer',
  ],
  [
    with_({ thinking: { type: 'enabled', budget_tokens: 1024 } }),
    '400 thinking.type must not be enabled: model mock/chat does not enforce thinking budgets',
  ],
  [
    with_({ model: 'mock/always', thinking: { type: 'enabled', budget_tokens: 1024 } }),
    '400 thinking.type must not be enabled: model mock/always does not enforce thinking budgets',
  ],
  [
    with_({ model: 'mock/always', thinking: { type: 'disabled' } }),
    '400 thinking.type must not turn reasoning off: model mock/always always reasons',
  ],
  [
    think({ thinking: { type: 'adaptive', display: 'full' } }),
    '400 thinking.display must be one of "summarized", "omitted", "updates"',
  ],
  [
    think({ thinking: { type: 'disabled', display: 'omitted' } }),
    '400 thinking.display must not be set when thinking is disabled',
  ],
  [
    think({ thinking: { type: 'disabled', display: 'summarized' } }),
    '400 thinking.display must not be set when thinking is disabled',
  ],
  // tools
  [with_({ tools: look }), '400 tools must be an array'],
  [with_({ tools: [{ ...look, name: undefined }] }), '400 tools[0].name is required'],
  [with_({ tools: [{ ...look, name: '' }] }), '400 tools[0].name must not be empty'],
  [
    with_({ tools: [{ ...look, name: 'x'.repeat(201) }] }),
    '400 tools[0].name must have at most 200 characters',
  ],
  [with_({ tools: [{ ...look, description: 5 }] }), '400 tools[0].description must be a string'],
  [with_({ tools: [look, { name: 'hear' }] }), '400 tools[1].input_schema is required'],
  [with_({ tools: [{ type: 'custom', name: 'hear' }] }), '400 tools[0].input_schema is required'],
  [
    with_({ tools: [look, { type: 'web_search_20260209', name: 'web_search' }] }),
    `400 tools[1].type web_search_20260209 ${serverTool}`,
  ],
  [
    with_({ tools: [{ type: 'bash_20250124', name: 'bash', input_schema: null }] }),
    `400 tools[0].type bash_20250124 ${serverTool}`,
  ],
  [
    with_({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'files' }] }),
    `400 tools[0].type mcp_toolset ${serverTool}`,
  ],
  [with_({ tools: ['look'] }), '400 tools[0] must be an object'],
  [with_({ tools: [{ ...look, strict: 1 }] }), '400 tools[0].strict must be true or false'],
  [with_({ tools: [{ ...look, input_examples: [1] }] }), '400 tools[0].input_examples[0] must be an object'],
  [with_({ tools: [{ ...look, input_schema: [] }] }), '400 tools[0].input_schema must be an object'],
  // tool_choice
  [with_({ tools: [look], tool_choice: 'any' }), '400 tool_choice must be an object'],
  [with_({ tools: [look], tool_choice: {} }), '400 tool_choice.type is required'],
  [
    with_({ tools: [look], tool_choice: { type: 'required' } }),
    '400 tool_choice.type must be one of "auto", "any", "tool", "none"',
  ],
  [
    with_({ tools: [look], tool_choice: { type: 'tool' } }),
    '400 tool_choice.name is required when its type is tool',
  ],
  [
    with_({ tools: [look], tool_choice: { type: 'tool', name: '' } }),
    '400 tool_choice.name must not be empty',
  ],
  [
    with_({ tools: [look], tool_choice: { type: 'tool', name: 'hear' } }),
    '400 tool_choice.name must name one of tools: there is no hear',
  ],
  [
    with_({ tools: [look], tool_choice: { type: 'auto', disable_parallel_tool_use: 1 } }),
    '400 tool_choice.disable_parallel_tool_use must be true or false',
  ],
  [with_({ tool_choice: { type: 'any' } }), '400 tool_choice needs tools unless its type is none'],
  [
    with_({ tool_choice: { type: 'tool', name: 'x' } }),
    '400 tool_choice needs tools unless its type is none',
  ],
  [
    with_({ tools: [], tool_choice: { type: 'auto' } }),
    '400 tool_choice needs tools unless its type is none',
  ],
  // what would change the answer, and cannot be honoured
  [
    { thread: { type: 'continue', previous_message_id: 'msg_1' }, messages: [] },
    '400 thread is not supported: nothing is stored; send the whole conversation',
  ],
  [with_({ compaction: { type: 'summarize' } }), `400 compaction ${uncompacted}`],
  [
    with_({
      context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] },
    }),
    `400 context_management.edits[1].type compact_20260112 ${uncompacted}`,
  ],
  [with_({ container: 'container_1' }), '400 container is not supported: server tools are not run here'],
  [
    with_({ mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] }),
    '400 mcp_servers is not supported: the gateway connects to no MCP servers',
  ],
  [
    with_({ inference_geo: 'us' }),
    '400 inference_geo is not supported: the operator chooses where models run',
  ],
  [
    with_({ output_config: { task_budget: { type: 'tokens', total: 9000 } } }),
    '400 output_config.task_budget is not supported: models do not see budgets',
  ],
  [with_({ seed: 1 }), '400 seed is not supported: it belongs to /chat/completions'],
  [with_({ response_format: {} }), '400 response_format is not supported: it belongs to /chat/completions'],
];

/** Of `POST /messages` alone. */
const answers: readonly (readonly [body: unknown, refusal: string])[] = [
  [with_({ max_tokens: undefined }), '400 max_tokens is required'],
  [with_({ max_tokens: null }), '400 max_tokens must be an integer'],
  [with_({ max_tokens: -1 }), '400 max_tokens must be at least 0'],
  [with_({ max_tokens: 1.5 }), '400 max_tokens must be an integer'],
  [with_({ max_tokens: '100' }), '400 max_tokens must be an integer'],
  [with_({ stream: 'yes' }), '400 stream must be true or false'],
  [with_({ temperature: 1.1 }), '400 temperature must be between 0 and 1'],
  [with_({ temperature: -0.1 }), '400 temperature must be between 0 and 1'],
  [with_({ temperature: '1' }), '400 temperature must be a number'],
  [with_({ top_p: 1.1 }), '400 top_p must be between 0 and 1'],
  [with_({ top_k: -1 }), '400 top_k must be between 0 and 2147483647'],
  [with_({ top_k: 0.5 }), '400 top_k must be an integer'],
  [with_({ stop_sequences: 'END' }), '400 stop_sequences must be an array'],
  [with_({ stop_sequences: ['END', 5] }), '400 stop_sequences[1] must be a string'],
  [with_({ stop_sequences: ['END', ''] }), '400 stop_sequences[1] must not be empty'],
  [with_({ stop_sequences: Array(8193).fill('x') }), '400 stop_sequences must have at most 8192 items'],
  [with_({ metadata: 'me' }), '400 metadata must be an object'],
  [with_({ metadata: { user_id: 5 } }), '400 metadata.user_id must be a string'],
  [
    think({ max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 2048 } }),
    '400 thinking.budget_tokens must be below max_tokens',
  ],
  [
    // What the window leaves is less than what was asked for.
    think({
      max_tokens: 200_000,
      thinking: { type: 'enabled', budget_tokens: 150_000 },
      messages: [{ role: 'user', content: 'word '.repeat(2000) }],
    }),
    '400 thinking.budget_tokens must be below the completion limit of 128533 tokens',
  ],
  [
    see({ type: 'image', source: { type: 'base64', media_type: 'text/html', data: 'AAAA' } }),
    '400 messages[0].content[0].source.data must be an image, not text/html',
  ],
  [
    see({ type: 'image', source: { type: 'url', url: 'data:video/mp4;base64,AAAA' } }),
    '400 messages[0].content[0].source.url must be an image, not video/mp4',
  ],
  [see(...Array(65).fill(image)), '400 messages must not have more than 64 media and document parts'],
  [
    { ...say({ role: 'user', content: 'word '.repeat(400) }), model: 'mock/small' },
    "400 prompt is too long: 408 tokens > 224 maximum. This model's maximum context length is 256 tokens; shorten messages",
  ],
];

t.test('POST /messages', async (t) => {
  for (const [body, expected] of [...prompts, ...answers]) {
    const at = harness();
    t.equal(await refusal(ask(body, at)), expected);
    if (at.calls.length > 0 || at.events.length > 0) t.fail(`reached an engine: ${expected}`);
  }
});

t.test('POST /messages/count_tokens', async (t) => {
  for (const [body, expected] of prompts) t.equal(await refusal(count(body)), expected);
  t.equal(await refusal(count(with_({ max_tokens: -1 }))), 'answered', 'max_tokens is no field of it');
});
