/** Tests that invalid chat requests get an error that names the field and reach no engine. */
import t from 'tap';
import { thrownBy } from '../thrown-by.ts';
import { refusal, ask as send } from './fixtures.ts';
import {
  checkAccepted,
  checkRefused,
  checkRefusedInSlot,
  closed,
  efforts,
  png,
  type Refused,
} from './refusals.ts';

const user = { role: 'user', content: 'Hi' };
const ask = (fields: object) => ({ messages: [user], ...fields });
const say = (...messages: unknown[]) => ({ messages });
const part = (...parts: unknown[]) => say({ role: 'user', content: parts });
const see = (...parts: unknown[]) => ({ model: 'mock/eye', ...part(...parts) });
const tool = (fields: object = {}) => ({ type: 'function', function: { name: 'look', ...fields } });
const strict = (parameters: unknown) => ask({ tools: [tool({ strict: true, parameters })] });
const think = (fields: object) => ask({ model: 'mock/thinker', ...fields });

const roles = '"system", "developer", "user", "assistant", "tool"';

const cases: Refused = [
  // the body and its messages
  [[], '400 The request body must be a JSON object, not an array'],
  [{}, '400 messages is required'],
  [{ messages: null }, '400 messages must be an array'],
  [{ messages: 'Hi' }, '400 messages must be an array'],
  [say(), '400 messages must have at least 1 item'],
  [say(null), '400 messages[0] must be an object'],
  [say('Hi'), '400 messages[0] must be an object'],
  [say({}), '400 messages[0].role is required'],
  [say({ content: 'Hi' }), '400 messages[0].role is required'],
  [say({ role: 'robot', content: 'Hi' }), `400 messages[0].role must be one of ${roles}`],
  [say({ role: 'function', content: 'Hi' }), `400 messages[0].role must be one of ${roles}`],
  [say(user, { role: 7, content: 'Hi' }), `400 messages[1].role must be one of ${roles}`],
  [say({ role: 'user' }), '400 messages[0].content is required'],
  [say({ role: 'user', content: null }), '400 messages[0].content is required'],
  [say({ role: 'system', content: null }, user), '400 messages[0].content is required'],
  [say({ role: 'user', content: 5 }), '400 messages[0].content must be a string or an array'],
  [say({ role: 'user', content: [] }), '400 messages[0].content is required'],
  [say({ role: 'user', content: 'Hi', name: 1 }), '400 messages[0].name must be a string'],
  // content parts
  [part('Hi'), '400 messages[0].content[0] must be an object'],
  [part({}), '400 messages[0].content[0].type is required'],
  [
    part({ type: 'smell' }),
    '400 messages[0].content[0].type must be one of "text", "image_url", "input_audio", "video_url", "file", "refusal"',
  ],
  [part({ type: 'text' }), '400 messages[0].content[0].text is required'],
  [part({ type: 'text', text: 1 }), '400 messages[0].content[0].text must be a string'],
  [
    part({ type: 'refusal', refusal: 'No' }),
    '400 messages[0].content[0].type refusal is not supported on messages of role user',
  ],
  [see({ type: 'image_url' }), '400 messages[0].content[0].image_url is required'],
  [see({ type: 'image_url', image_url: png }), '400 messages[0].content[0].image_url must be an object'],
  [see({ type: 'image_url', image_url: {} }), '400 messages[0].content[0].image_url.url is required'],
  [
    see({ type: 'image_url', image_url: { url: 5 } }),
    '400 messages[0].content[0].image_url.url must be a string',
  ],
  [
    see({ type: 'image_url', image_url: { url: null } }),
    '400 messages[0].content[0].image_url.url must be a string',
  ],
  [
    see({ type: 'image_url', image_url: { url: png, detail: 'huge' } }),
    '400 messages[0].content[0].image_url.detail must be one of "auto", "low", "high", "original"',
  ],
  [
    part({ type: 'image_url', image_url: { url: png } }),
    '400 messages[0].content[0]: model mock/chat takes no image input',
  ],
  [see({ type: 'video_url' }), '400 messages[0].content[0].video_url is required'],
  [see({ type: 'video_url', video_url: {} }), '400 messages[0].content[0].video_url.url is required'],
  [
    part({ type: 'video_url', video_url: { url: 'x' } }),
    '400 messages[0].content[0]: model mock/chat takes no video input',
  ],
  [see({ type: 'input_audio' }), '400 messages[0].content[0].input_audio is required'],
  [
    see({ type: 'input_audio', input_audio: { format: 'wav' } }),
    '400 messages[0].content[0].input_audio.data is required',
  ],
  [
    see({ type: 'input_audio', input_audio: { data: 'AAAA' } }),
    '400 messages[0].content[0].input_audio.format is required',
  ],
  [
    see({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'midi' } }),
    '400 messages[0].content[0].input_audio.format must be one of "wav", "mp3", "flac", "m4a", "ogg", "webm", "aac", "aiff"',
  ],
  [
    part({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    '400 messages[0].content[0]: model mock/chat takes no audio input',
  ],
  [part({ type: 'file' }), '400 messages[0].content[0].file is required'],
  [part({ type: 'file', file: {} }), '400 messages[0].content[0].file.file_data is required'],
  [
    part({ type: 'file', file: { file_data: 9 } }),
    '400 messages[0].content[0].file.file_data must be a string',
  ],
  [
    part({ type: 'file', file: { file_id: 'file-1' } }),
    '400 messages[0].content[0].file.file_id is not supported: send the document as file_data',
  ],
  [
    see(...Array(65).fill({ type: 'image_url', image_url: { url: png } })),
    '400 messages must not have more than 64 media and document parts',
  ],
  // media off user messages
  [
    {
      model: 'mock/eye',
      ...say({ role: 'system', content: [{ type: 'image_url', image_url: { url: png } }] }, user),
    },
    '400 messages[0].content[0].type image_url is not supported on messages of role system',
  ],
  [
    {
      model: 'mock/eye',
      ...say(user, { role: 'assistant', content: [{ type: 'image_url', image_url: { url: png } }] }, user),
    },
    '400 messages[1].content[0].type image_url is not supported on messages of role assistant',
  ],
  [
    say(user, {
      role: 'tool',
      tool_call_id: 'call_1',
      content: [{ type: 'file', file: { file_data: 'x' } }],
    }),
    '400 messages[1].content[0].type file is not supported on messages of role tool',
  ],
  // tool messages and calls
  [say(user, { role: 'tool', content: 'x' }), '400 messages[1].tool_call_id is required'],
  [
    say(user, { role: 'tool', content: 'x', tool_call_id: '' }),
    '400 messages[1].tool_call_id must not be empty',
  ],
  [say(user, { role: 'tool', tool_call_id: 'call_1' }), '400 messages[1].content is required'],
  [
    say(user, { role: 'tool', tool_call_id: 'call_1', content: 'x' }),
    '400 messages[1].tool_call_id must be the id of a tool call in an earlier assistant message',
  ],
  [
    say(
      user,
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      { role: 'tool', tool_call_id: 'call_2', content: 'x' },
      { role: 'assistant', tool_calls: [{ id: 'call_2', function: { name: 'f', arguments: '{}' } }] },
      user,
    ),
    '400 messages[3].tool_call_id must be the id of a tool call in an earlier assistant message',
  ],
  [
    say(user, { role: 'assistant' }, user),
    '400 messages[1].content is required on an assistant message without tool_calls',
  ],
  [
    say(user, { role: 'assistant', content: [] }, user),
    '400 messages[1].content is required on an assistant message without tool_calls',
  ],
  [say(user, { role: 'assistant', tool_calls: {} }, user), '400 messages[1].tool_calls must be an array'],
  [
    say(user, { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '' } }] }, user),
    '400 messages[1].tool_calls[0].id is required',
  ],
  [
    say(user, { role: 'assistant', tool_calls: [{ id: 'call_1' }] }, user),
    '400 messages[1].tool_calls[0].function is required',
  ],
  [
    say(
      user,
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: {} } }] },
      user,
    ),
    '400 messages[1].tool_calls[0].function.arguments must be a string',
  ],
  [
    say(
      user,
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'custom', function: { name: 'f', arguments: '' } }],
      },
      user,
    ),
    '400 messages[1].tool_calls[0].type must be "function"',
  ],
  // continuation
  [
    ask({ continue_final_message: true }),
    '400 continue_final_message needs a final message of role assistant',
  ],
  [ask({ continue_final_message: 'yes' }), '400 continue_final_message must be true or false'],
  [
    say(user, { role: 'assistant', content: ' \n\t' }),
    '400 messages[1].content must have text: a final assistant message is continued',
  ],
  [
    say(user, { role: 'assistant', content: '', reasoning: 'Hm' }),
    '400 messages[1].content must have text: a final assistant message is continued',
  ],
  [
    say(user, {
      role: 'assistant',
      content: [
        { type: 'text', text: ' ' },
        { type: 'text', text: '' },
      ],
    }),
    '400 messages[1].content must have text: a final assistant message is continued',
  ],
  [
    say(user, {
      role: 'assistant',
      content: 'Hm',
      tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{}' } }],
    }),
    '400 messages[1].tool_calls must not be on a final assistant message',
  ],
  // model
  [ask({ model: 'mock/gone' }), '404 There is no model mock/gone'],
  [ask({ model: '' }), '400 model must not be empty'],
  [ask({ model: 5 }), '400 model must be a string'],
  // numbers
  [ask({ max_tokens: 0 }), '400 max_tokens must be at least 1'],
  [ask({ max_tokens: 0, max_completion_tokens: 5 }), '400 max_tokens must be at least 1'],
  [ask({ max_completion_tokens: 0 }), '400 max_completion_tokens must be at least 1'],
  [ask({ max_completion_tokens: -1 }), '400 max_completion_tokens must be at least 1'],
  [ask({ max_completion_tokens: 1.5 }), '400 max_completion_tokens must be an integer'],
  [ask({ max_completion_tokens: '5' }), '400 max_completion_tokens must be an integer'],
  [ask({ n: 0 }), '400 n must be between 1 and 128'],
  [ask({ n: 129 }), '400 n must be between 1 and 128'],
  [ask({ n: 1.5 }), '400 n must be an integer'],
  [ask({ seed: 0.5 }), '400 seed must be an integer'],
  [ask({ seed: 'x' }), '400 seed must be an integer'],
  [ask({ top_k: -1 }), '400 top_k must be between 0 and 2147483647'],
  [ask({ top_k: 0.5 }), '400 top_k must be an integer'],
  [ask({ repetition_penalty: 2.1 }), '400 repetition_penalty must be between 0 and 2'],
  [ask({ temperature: 2.1 }), '400 temperature must be between 0 and 2'],
  [ask({ temperature: -0.1 }), '400 temperature must be between 0 and 2'],
  [ask({ temperature: 'hot' }), '400 temperature must be a number'],
  [ask({ top_p: 1.1 }), '400 top_p must be between 0 and 1'],
  [ask({ frequency_penalty: -2.1 }), '400 frequency_penalty must be between -2 and 2'],
  [ask({ presence_penalty: 2.1 }), '400 presence_penalty must be between -2 and 2'],
  [ask({ logit_bias: [] }), '400 logit_bias must be an object'],
  [ask({ logit_bias: { 50256: 'x' } }), '400 logit_bias["50256"] must be a number'],
  [ask({ logit_bias: { 50256: 101 } }), '400 logit_bias["50256"] must be between -100 and 100'],
  [ask({ logit_bias: { the: 1 } }), '400 logit_bias must have ids of tokens as its keys'],
  [ask({ stream: 'true' }), '400 stream must be true or false'],
  [ask({ stream_options: { include_usage: 1 } }), '400 stream_options.include_usage must be true or false'],
  // stop and logprobs
  [ask({ stop: 5 }), '400 stop must be a string or an array'],
  [ask({ stop: ['a', 'b', 'c', 'd', 'e'] }), '400 stop must have at most 4 items'],
  [ask({ stop: ['a', 5] }), '400 stop[1] must be a string'],
  [ask({ stop: '' }), '400 stop must not be empty'],
  [ask({ stop: ['a', ''] }), '400 stop[1] must not be empty'],
  [ask({ logprobs: 1 }), '400 logprobs must be true or false'],
  [ask({ top_logprobs: 2 }), '400 top_logprobs needs logprobs to be true'],
  [ask({ logprobs: false, top_logprobs: 0 }), '400 top_logprobs needs logprobs to be true'],
  [ask({ logprobs: true, top_logprobs: 21 }), '400 top_logprobs must be between 0 and 20'],
  // tools
  [ask({ tools: {} }), '400 tools must be an array'],
  [ask({ tools: [{}] }), '400 tools[0].type is required'],
  [ask({ tools: [{ type: 'retrieval' }] }), '400 tools[0].type must be "function"'],
  [ask({ tools: [{ ...tool(), type: 'retrieval' }] }), '400 tools[0].type must be "function"'],
  [
    ask({ tools: [tool({ name: 'a b' })] }),
    '400 tools[0].function.name must be 1 to 64 letters, digits, underscores and dashes',
  ],
  [
    ask({ tools: [tool({ name: 'x'.repeat(65) })] }),
    '400 tools[0].function.name must be 1 to 64 letters, digits, underscores and dashes',
  ],
  [ask({ tools: [tool({ name: undefined })] }), '400 tools[0].function.name is required'],
  [ask({ tools: [tool({ parameters: [] })] }), '400 tools[0].function.parameters must be an object'],
  [ask({ tools: [tool({ strict: 'yes' })] }), '400 tools[0].function.strict must be true or false'],
  [ask({ tool_choice: 'auto' }), '400 tool_choice needs tools unless it is none'],
  [ask({ tools: [], tool_choice: 'required' }), '400 tool_choice needs tools unless it is none'],
  [
    ask({ tool_choice: { type: 'function', function: { name: 'look' } } }),
    '400 tool_choice needs tools unless it is none',
  ],
  [
    ask({ tools: [tool()], tool_choice: { type: 'function', function: { name: 'jump' } } }),
    '400 tool_choice.function.name must name one of tools: there is no jump',
  ],
  [
    ask({ tools: [tool()], tool_choice: 'any' }),
    '400 tool_choice must be one of "none", "auto", "required" or an object',
  ],
  [ask({ tools: [tool()], tool_choice: { type: 'function' } }), '400 tool_choice.function is required'],
  [ask({ parallel_tool_calls: 'no' }), '400 parallel_tool_calls must be true or false'],
  // strict schemas
  [strict({}), '400 tools[0].function.parameters.type must be object when strict is true'],
  [
    strict({ type: 'object' }),
    '400 tools[0].function.parameters.additionalProperties must be false when strict is true',
  ],
  [
    strict({ ...closed, properties: { city: { type: 'string' } } }),
    '400 tools[0].function.parameters.required must list every property when strict is true: city is missing',
  ],
  [
    strict({ ...closed, properties: { where: { type: 'object' } }, required: ['where'] }),
    '400 tools[0].function.parameters.properties.where.additionalProperties must be false when strict is true',
  ],
  [
    strict({ ...closed, properties: { list: { type: 'array', items: { allOf: [] } } }, required: ['list'] }),
    '400 tools[0].function.parameters.properties.list.items.allOf is not supported when strict is true',
  ],
  [
    strict({ ...closed, $defs: { one: { anyOf: [{ type: 'null' }, { not: {} }] } } }),
    '400 tools[0].function.parameters.$defs.one.anyOf[1].not is not supported when strict is true',
  ],
  [
    strict(nested(11)),
    `400 tools[0].function.parameters${'.properties.deeper'.repeat(10)} is nested more than 10 levels deep, which strict does not take`,
  ],
  // response format
  [ask({ response_format: 'json' }), '400 response_format must be an object'],
  [ask({ response_format: {} }), '400 response_format.type is required'],
  [
    ask({ response_format: { type: 'xml' } }),
    '400 response_format.type must be one of "text", "json_object", "json_schema"',
  ],
  [ask({ response_format: { type: 'json_schema' } }), '400 response_format.json_schema is required'],
  [
    ask({ response_format: { type: 'json_schema', json_schema: {} } }),
    '400 response_format.json_schema.name is required',
  ],
  [
    ask({ response_format: { type: 'json_schema', json_schema: { name: 'a.b' } } }),
    '400 response_format.json_schema.name must be 1 to 64 letters, digits, underscores and dashes',
  ],
  // reasoning
  [ask({ reasoning_effort: 'huge' }), `400 reasoning_effort must be one of ${efforts}`],
  [ask({ reasoning: { effort: 'huge' } }), `400 reasoning.effort must be one of ${efforts}`],
  [ask({ reasoning: 'high' }), '400 reasoning must be an object'],
  [ask({ reasoning: { enabled: 'no' } }), '400 reasoning.enabled must be true or false'],
  [ask({ reasoning: { exclude: 'no' } }), '400 reasoning.exclude must be true or false'],
  [ask({ include_reasoning: 0 }), '400 include_reasoning must be true or false'],
  [
    ask({ reasoning: { summary: 'long' } }),
    '400 reasoning.summary must be one of "auto", "concise", "detailed"',
  ],
  [ask({ reasoning: { max_tokens: 0 } }), '400 reasoning.max_tokens must be at least 1'],
  [ask({ reasoning_effort: 'low' }), '400 reasoning_effort must be none: model mock/chat does not reason'],
  [
    ask({ reasoning: { effort: 'high' } }),
    '400 reasoning.effort must be none: model mock/chat does not reason',
  ],
  [
    think({ reasoning_effort: 'ultra' }),
    '400 reasoning_effort must be one of none, low, medium, high for model mock/thinker',
  ],
  [
    think({ reasoning_effort: 'low', reasoning: { effort: 'minimal' } }),
    '400 reasoning.effort must be one of none, low, medium, high for model mock/thinker',
  ],
  [
    ask({ model: 'mock/always', reasoning_effort: 'none' }),
    '400 reasoning_effort must not turn reasoning off: model mock/always always reasons',
  ],
  [
    ask({ model: 'mock/always', reasoning: { enabled: false } }),
    '400 reasoning.enabled must not turn reasoning off: model mock/always always reasons',
  ],
  [
    ask({ model: 'mock/always', reasoning_effort: 'medium' }),
    '400 reasoning_effort must be one of low, high for model mock/always',
  ],
  [
    think({ reasoning: { max_tokens: 500 }, max_completion_tokens: 500 }),
    '400 reasoning.max_tokens must be below the completion limit of 500 tokens',
  ],
  [
    ask({ model: 'mock/always', reasoning: { max_tokens: 40_000 } }),
    '400 reasoning.max_tokens must be below the completion limit of 32768 tokens',
  ],
];

function strictFormat(schema: object): object {
  return { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } };
}

function nested(levels: number): object {
  return levels === 1
    ? closed
    : { ...closed, properties: { deeper: nested(levels - 1) }, required: ['deeper'] };
}

t.test(`${cases.length} invalid requests are refused`, (t) => checkRefused(t, refusal, cases));

const costly: Refused = [
  [
    see(
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'data:text/html;base64,AAAA' } },
    ),
    '400 messages[0].content[1].image_url.url must be an image, not text/html',
  ],
  [
    see({ type: 'video_url', video_url: { url: png } }),
    '400 messages[0].content[0].video_url.url must be a video, not image/png',
  ],
  [
    part({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,YnJva2Vu' } }),
    '400 messages[0].content[0].file.file_data: the document cannot be read',
  ],
  [
    { model: 'mock/small', ...say({ role: 'user', content: 'word '.repeat(250) }) },
    "400 prompt is too long: 258 tokens > 224 maximum. This model's maximum context length is 256 tokens; shorten messages",
  ],
];

t.test(`${costly.length} requests that are refused for what they hold have a slot meanwhile`, (t) =>
  checkRefusedInSlot(t, refusal, costly),
);

t.test('fields that would change the answer are refused by name', async (t) => {
  const fields: readonly (readonly [field: string, value: unknown, hint?: string])[] = [
    ['functions', [{ name: 'f' }], ': use tools'],
    ['function_call', 'auto', ': use tool_choice'],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy', format: 'mp3' }],
    ['web_search_options', { search_context_size: 'low' }],
    ['plugins', [{ id: 'web' }]],
    ['min_p', 0.05],
    ['guided_json', { type: 'object' }, ': use response_format'],
    ['chat_template_kwargs', { enable_thinking: false }],
    ['thinking', { type: 'enabled' }, ': use reasoning'],
    ['ignore_eos', true],
    ['repeat_penalty', 1.1, ': use repetition_penalty'],
  ];
  for (const [field, value, hint = ''] of fields) {
    const thrown = await thrownBy(send(ask({ [field]: value })));
    t.match(thrown, { kind: 'unsupported_parameter', message: `${field} is not supported${hint}` });
  }
  const harmless = {
    functions: [],
    function_call: 'none',
    modalities: ['text'],
    audio: null,
    plugins: [{ id: 'file-parser' }],
    web_search_options: {},
    min_p: 0,
    typical_p: 1,
    skip_special_tokens: true,
    ignore_eos: false,
    guided_regex: '',
    add_generation_prompt: false,
  };
  t.equal(await refusal(ask(harmless)), 'answered', 'values that change nothing are accepted');
});

t.test('unusual but valid requests are accepted', async (t) => {
  const fine: readonly unknown[] = [
    ask({
      unknown: { field: [1] },
      metadata: 5,
      store: 'x',
      service_tier: 'auto',
      provider: null,
      plugins: [],
    }),
    ask({
      model: null,
      stop: null,
      n: null,
      seed: null,
      temperature: null,
      tools: null,
      tool_choice: null,
      reasoning: null,
    }),
    ask({ tool_choice: 'none' }),
    ask({ tools: [] }),
    ask({ stop: [] }),
    ask({ reasoning_effort: 'none' }),
    ask({ reasoning: { enabled: true, summary: 'auto', max_tokens: 10 } }),
    say({ role: 'user', content: '' }),
    say({ role: 'developer', content: 'Be brief', name: null }, user),
    say(user, { role: 'assistant', content: null, refusal: 'I will not' }, user),
    say(user, { role: 'assistant', content: null, reasoning_content: 'Hm' }, user),
    say(
      user,
      {
        role: 'assistant',
        content: 'x',
        reasoning: 'r',
        reasoning_details: [],
        annotations: [],
        audio: null,
      },
      user,
    ),
    strict({ ...closed, properties: { a: { type: ['string', 'null'], default: null } }, required: ['a'] }),
    think({ reasoning: { enabled: false, max_tokens: 99_999 } }),
    ask({ response_format: strictFormat({ type: 'array' }) }),
    ask({ response_format: strictFormat({ type: 'object', properties: { a: {} }, oneOf: [{}] }) }),
    ask({ include_reasoning: true, reasoning: { exclude: false } }),
  ];
  await checkAccepted(t, refusal, fine);
});
