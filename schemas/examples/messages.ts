/** Examples of the messages format. */
import { namedEvents } from './events.ts';

const model = 'sluice/chat';
const question = { role: 'user', content: 'How do tides work?' };
const weather = {
  name: 'get_weather',
  description: 'The weather in a city now',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const counts = (input: number, output: number) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
  output_tokens_details: { thinking_tokens: 0 },
  server_tool_use: null,
});

const message = (content: readonly unknown[], stopReason: string | null, output: number) => ({
  id: 'msg_65a9a358806c904eec1b8c98f',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  usage: {
    ...counts(12, output),
    cache_creation: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  },
});

const toolUse = {
  type: 'tool_use',
  id: 'toolu_c9d9184d7c7f2f3c6330fc8c',
  name: 'get_weather',
  input: { city: 'Paris' },
};

export const messagesExamples = {
  request: {
    'application/json': {
      'A question': { model, max_tokens: 200, messages: [question] },
      'A stream with thinking': {
        model: 'sluice/reasoner',
        max_tokens: 4000,
        stream: true,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [question],
      },
      'The result of a tool': {
        model,
        max_tokens: 200,
        tools: [weather],
        messages: [
          { role: 'user', content: 'What is the weather in Paris?' },
          { role: 'assistant', content: [toolUse] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: toolUse.id, content: '{"celsius":21}' }],
          },
        ],
      },
    },
  },
  response: {
    'application/json': {
      'An answer': message([{ type: 'text', text: 'The moon pulls the sea toward it.' }], 'end_turn', 9),
      'A call of a tool': message([toolUse], 'tool_use', 14),
    },
    'text/event-stream': {
      'A stream': namedEvents([
        { type: 'message_start', message: message([], null, 0) },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'The moon' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' pulls the sea.' } },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
          usage: counts(12, 6),
        },
        { type: 'message_stop' },
      ]),
    },
  },
};

export const countTokensExamples = {
  request: { 'application/json': { 'A prompt': { model, messages: [question], tools: [weather] } } },
  response: { 'application/json': { 'A count': { input_tokens: 61 } } },
};
