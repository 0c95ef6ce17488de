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
const image = { type: 'image', source: png };
const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' };

const blockTypes = '"text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking"';
const efforts = '"minimal", "low", "medium", "high", "xhigh", "max", "ultra"';

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
  [part({ type: 'document' }), `400 messages[0].content[0].type must be one of ${blockTypes}`],
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
    '400 messages[0].content[0].content[0].type must be one of "text", "image"',
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
    part({ ...result, content: [image] }),
    '400 messages[0].content[0].content[0]: model mock/chat takes no image input',
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
  [
    with_({ output_config: { effort: 'low' } }),
    '400 output_config.effort is not supported: model mock/chat does not reason',
  ],
  [
    with_({ output_config: { format: { type: 'json_schema' } } }),
    '400 output_config.format.schema is required',
  ],
  [
    with_({ output_config: { format: { type: 'xml', schema: {} } } }),
    '400 output_config.format.type must be "json_schema"',
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
    '400 thinking.display must be one of "summarized", "omitted"',
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
  [
    with_({ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }),
    '400 tools[0].input_schema is required',
  ],
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
