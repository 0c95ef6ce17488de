/** Examples of chat completions and text completions. */
import { dataEvents } from './events.ts';

const id = 'chatcmpl-65a9a358806c904eec1b8c98a';
const created = 1794732170;
const model = 'sluice/chat';
const provider = 'Sluice';

const usage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});

const question = { role: 'user', content: 'How do tides work?' };

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city now',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const call = {
  id: 'call_c9d9184d7c7f2f3c6330fc8c',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
};

const completion = (message: Readonly<Record<string, unknown>>, finishReason: string) => ({
  id,
  object: 'chat.completion',
  created,
  model,
  system_fingerprint: null,
  provider,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, reasoning: null, refusal: null, ...message },
      logprobs: null,
      finish_reason: finishReason,
      native_finish_reason: finishReason,
    },
  ],
  usage: usage(12, 9),
});

const chunk = (
  delta: Readonly<Record<string, unknown>>,
  finishReason: string | null = null,
  more: Readonly<Record<string, unknown>> = {},
) => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
  provider,
  choices: [
    { index: 0, delta, finish_reason: finishReason, native_finish_reason: finishReason, logprobs: null },
  ],
  ...more,
});

const answer = completion({ content: 'The moon pulls the sea toward it.' }, 'stop');

const chunks = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'The moon' }),
  chunk({ content: ' pulls the sea toward it.' }),
  chunk({}, 'stop', { usage: usage(12, 9) }),
];

export const chatExamples = {
  request: {
    'application/json': {
      'A question': { model, messages: [question], max_completion_tokens: 200 },
      'A stream': { model, messages: [question], stream: true },
      'A tool': {
        model,
        messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
        tools: [weather],
      },
      'The result of a tool': {
        model,
        messages: [
          { role: 'user', content: 'What is the weather in Paris?' },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: call.id, content: '{"celsius":21}' },
        ],
        tools: [weather],
      },
      'An image': {
        model: 'sluice/vision',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: 'https://example.com/lighthouse.png' } },
            ],
          },
        ],
      },
      'JSON by a schema': {
        model,
        messages: [{ role: 'user', content: 'Name a city and its country.' }],
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'place',
            schema: {
              type: 'object',
              properties: { city: { type: 'string' }, country: { type: 'string' } },
              required: ['city', 'country'],
            },
          },
        },
      },
    },
  },
  response: {
    'application/json': {
      'An answer': answer,
      'A call of a tool': completion({ tool_calls: [call] }, 'tool_calls'),
    },
    'text/event-stream': {
      'A stream': dataEvents([...chunks, '[DONE]']),
      'A stream that fails': dataEvents([
        ...chunks.slice(0, 2),
        chunk({ content: '' }, 'error', {
          error: {
            code: 502,
            message: 'The model could not be reached',
            type: 'server_error',
            param: null,
            metadata: { error_type: 'provider_unavailable' },
          },
        }),
        '[DONE]',
      ]),
    },
  },
};

const context = [
  {
    id: 'item_76246d2bb2a5d05fa34f71c2',
    file_id: 'file-ab9021390a8a7e012f3ffa0a',
    filename: 'tides.md',
    score: 0.58,
    description: '',
    attributes: {},
    content: [{ type: 'text', text: 'Spring tides come at full moon and at new moon.' }],
    index: 0,
  },
];

export const ragExamples = {
  request: {
    'application/json': {
      'A question about stored files': {
        model,
        collection: 'vs_c905707f2bb2cd8441c38b33',
        messages: [{ role: 'user', content: 'When are spring tides?' }],
      },
    },
  },
  response: {
    'application/json': {
      'An answer with its context': {
        ...completion({ content: 'At full moon and at new moon.' }, 'stop'),
        context,
      },
    },
    'text/event-stream': {
      'A stream': dataEvents([
        chunk({ role: 'assistant', content: '' }, null, { context }),
        chunk({ content: 'At full moon and at new moon.' }),
        chunk({}, 'stop', { usage: usage(174, 8) }),
        '[DONE]',
      ]),
    },
  },
};

const textHead = {
  id: 'cmpl-bb7cae86256665577e8c86fa1',
  object: 'text_completion',
  created,
  model,
  provider,
};
const textChoice = (text: string, finishReason: string | null) => ({
  text,
  index: 0,
  logprobs: null,
  finish_reason: finishReason,
});

export const completionsExamples = {
  request: {
    'application/json': {
      'A text': { model, prompt: 'The tide is', max_tokens: 12 },
      'Several texts': { model, prompt: ['The tide is', 'The moon is'], n: 2 },
    },
  },
  response: {
    'application/json': {
      'A completion': { ...textHead, choices: [textChoice(' high at noon.', 'stop')], usage: usage(3, 5) },
    },
    'text/event-stream': {
      'A stream': dataEvents([
        { ...textHead, choices: [textChoice(' high', null)] },
        { ...textHead, choices: [textChoice(' at noon.', null)] },
        { ...textHead, choices: [textChoice('', 'stop')], usage: usage(3, 5) },
        '[DONE]',
      ]),
    },
  },
};

export const streamExamples = {
  response: {
    'text/event-stream': {
      'The rest of a chat': chunks
        .slice(2)
        .map((event, index) => `id: ${index + 2}\n${dataEvents([event])}`)
        .join('')
        .concat(`id: 4\n${dataEvents(['[DONE]'])}`),
    },
  },
};
