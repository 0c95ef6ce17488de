/** Examples of the responses format. */
import { namedEvents } from './events.ts';

const model = 'sluice/chat';
const id = 'resp_65a9a358806c904eec1b8c98j';
const itemId = 'msg_65a9a358806c904eec1b8c98j_0';
const text = 'The moon pulls the sea toward it.';

const response = (
  status: string,
  output: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
) => ({
  id,
  object: 'response',
  created_at: 1794732171,
  status,
  completed_at: status === 'completed' ? 1794732172 : null,
  error: null,
  incomplete_details: null,
  output,
  usage:
    status === 'completed'
      ? {
          input_tokens: 12,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 21,
        }
      : null,
  model,
  instructions: null,
  metadata: {},
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_tool_calls: null,
  text: { format: { type: 'text' } },
  reasoning: { effort: null, summary: null },
  max_output_tokens: null,
  temperature: null,
  top_p: null,
  presence_penalty: null,
  frequency_penalty: null,
  top_logprobs: 0,
  user: null,
  prompt_cache_key: null,
  safety_identifier: null,
  previous_response_id: null,
  service_tier: 'default',
  truncation: 'disabled',
  background: false,
  store: false,
  ...more,
});

const part = { type: 'output_text', text, annotations: [], logprobs: [] };
const item = (status: string, content: readonly unknown[]) => ({
  type: 'message',
  id: itemId,
  status,
  role: 'assistant',
  content,
});
const whole = response('completed', [item('completed', [part])]);
const begun = response('in_progress', []);

const ofPart = { item_id: itemId, output_index: 0, content_index: 0 };

const events = [
  { type: 'response.created', response: begun },
  { type: 'response.in_progress', response: begun },
  { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
  { type: 'response.content_part.added', ...ofPart, part: { ...part, text: '' } },
  { type: 'response.output_text.delta', ...ofPart, delta: 'The moon', logprobs: [] },
  { type: 'response.output_text.delta', ...ofPart, delta: ' pulls the sea toward it.', logprobs: [] },
  { type: 'response.output_text.done', ...ofPart, text, logprobs: [] },
  { type: 'response.content_part.done', ...ofPart, part },
  { type: 'response.output_item.done', output_index: 0, item: item('completed', [part]) },
  { type: 'response.completed', response: whole },
].map((event, sequence_number) => ({ ...event, sequence_number }));

const route = {
  type: 'function',
  name: 'route',
  description: 'The way to a place',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
};
const call = { call_id: 'call_c9d9184d7c7f2f3c6330fc8c', name: 'route', arguments: '{"to":"Oslo"}' };

export const responsesExamples = {
  request: {
    'application/json': {
      'A question': { model, input: 'How do tides work?', max_output_tokens: 200 },
      'The output of a tool': {
        model,
        input: [
          { role: 'user', content: 'How do I get to Oslo?' },
          { type: 'function_call', ...call },
          { type: 'function_call_output', call_id: call.call_id, output: 'By train, in 4 hours' },
        ],
        tools: [route],
      },
      'In the background': { model, input: 'How do tides work?', background: true, stream: true },
    },
  },
  response: {
    'application/json': {
      'An answer': whole,
      'A call of a tool': response('completed', [
        { type: 'function_call', id: 'fc_65a9a358806c904eec1b8c98m_0', status: 'completed', ...call },
      ]),
    },
    'text/event-stream': { 'A stream': namedEvents(events) },
  },
};

export const getResponseExamples = {
  response: {
    'application/json': { 'Still running': response('in_progress', [], { background: true }), Ended: whole },
    'text/event-stream': { 'After event 5': namedEvents(events.slice(6)) },
  },
};

export const cancelResponseExamples = {
  response: {
    'application/json': { Cancelled: response('cancelled', [], { background: true }) },
  },
};

export const deleteResponseExamples = {
  response: { 'application/json': { Deleted: { id, object: 'response', deleted: true } } },
};
