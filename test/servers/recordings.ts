/** The requests whose responses are recorded as fixtures: as the gateway sends them, one for each thing it has to read. */
import { tools } from './checks/tools.ts';
import type { ModelServer } from './server.ts';

export interface Recording {
  /** The fixture's name without its ending. */
  readonly name: string;
  readonly kind: 'chat' | 'messages' | 'completions' | 'embeddings' | 'rerank' | 'tokenize' | 'error';
  /** Below the origin. */
  readonly path: string;
  readonly body: { readonly stream?: boolean; readonly [field: string]: unknown };
  readonly model: 'writer' | 'search';
  /** Recorded with a key that the server does not know. */
  readonly wrongKey?: true;
}

const sampling = { temperature: 1, top_p: 1, seed: 7 };
const usageToo = { stream: true, stream_options: { include_usage: true } };

const chatBody = (content: string, more: object = {}) => ({
  model: 'writer',
  messages: [{ role: 'user', content }],
  max_tokens: 64,
  ...sampling,
  ...more,
});

const chat = (name: string, content: string, more: object = {}): Recording => ({
  name,
  kind: 'chat',
  path: '/v1/chat/completions',
  model: 'writer',
  body: chatBody(content, more),
});
const streamed = (name: string, content: string, more: object = {}): Recording =>
  chat(`${name}-stream`, content, { ...more, ...usageToo });
const both = (name: string, content: string, more?: object): readonly Recording[] => [
  chat(name, content, more),
  streamed(name, content, more),
];

const refused = (name: string, recording: Recording): Recording => ({ ...recording, name, kind: 'error' });

const schema = (mood: object) => ({
  response_format: {
    type: 'json_schema',
    json_schema: {
      name: 'sea',
      strict: true,
      schema: { type: 'object', properties: { mood }, required: ['mood'], additionalProperties: false },
    },
  },
});

const messages = (name: string, content: string, more: object = {}): readonly Recording[] =>
  [false, true].map((stream) => ({
    name: `messages-${name}${stream ? '-stream' : ''}`,
    kind: 'messages',
    path: '/v1/messages',
    model: 'writer',
    body: {
      model: 'writer',
      max_tokens: 64,
      messages: [{ role: 'user', content: [{ type: 'text', text: content }] }],
      temperature: 1,
      stream,
      ...more,
    },
  }));

export const recordingsOf = ({ traits, window }: ModelServer): readonly Recording[] => {
  const off = traits.reasoning ? { chat_template_kwargs: { enable_thinking: false } } : {};
  return [
    ...both('text', 'Hi', off),
    streamed('wave', '[wave]', off),
    ...both('stop', '[count]', { ...off, stop: [' four'] }),
    streamed('length', '[count]', { ...off, max_tokens: 3 }),
    ...both('logprobs', '[dice]', { ...off, logprobs: true, top_logprobs: 2 }),
    ...both('call', '[call]', { ...off, tools }),
    ...both('calls', '[calls]', { ...off, tools }),
    ...(traits.forcedCalls === 'none'
      ? []
      : [streamed('forced', '[call]', { ...off, tools, tool_choice: 'required' })]),
    chat('schema', 'The sea?', { ...off, ...schema({ type: 'string', enum: ['calm'] }) }),
    ...(traits.reasoning
      ? both('think', '[think]', { chat_template_kwargs: { enable_thinking: true } })
      : []),
    {
      name: 'completion-stream',
      kind: 'completions',
      path: '/v1/completions',
      model: 'writer',
      body: { model: 'writer', prompt: 'one two', max_tokens: 3, ...sampling, ...usageToo },
    },
    {
      name: 'embeddings',
      kind: 'embeddings',
      path: '/v1/embeddings',
      model: 'search',
      body: { model: 'search', input: ['one', 'two'], encoding_format: 'base64' },
    },
    ...(traits.rerank
      ? [
          {
            name: 'rerank',
            kind: 'rerank',
            path: '/v1/rerank',
            model: 'search',
            body: { model: 'search', query: 'abc', documents: ['xyz', 'abc'], return_documents: false },
          } as const,
        ]
      : []),
    ...(traits.tokenizer === undefined
      ? []
      : [
          {
            name: 'tokenize',
            kind: 'tokenize',
            path: '/tokenize',
            model: 'writer',
            body:
              traits.tokenizer === 'vllm'
                ? { model: 'writer', prompt: 'one two [long]', return_token_strs: true }
                : { content: 'one two [long]', add_special: true, with_pieces: true },
          } as const,
        ]),
    ...(traits.messagesEngine === undefined
      ? []
      : [
          ...messages('text', 'Hi', off),
          ...messages('stop', '[count]', { ...off, stop_sequences: [' four'] }),
          ...messages('call', '[call]', {
            ...off,
            tools: [
              {
                name: 'get_weather',
                input_schema: { type: 'object', properties: { city: { type: 'string' } } },
              },
            ],
          }),
        ]),
    ...(traits.refusesLongPrompts
      ? [refused('overlong', chat('', 'x '.repeat(window), { ...off, max_tokens: 16 }))]
      : []),
    refused('bad-schema', chat('', 'Hi', { ...off, ...schema({ type: 'nonsense' }) })),
    refused('unknown-model', chat('', 'Hi', { ...off, model: 'nobody' })),
    ...(traits.keys ? [{ ...refused('wrong-key', chat('', 'Hi', off)), wrongKey: true } as const] : []),
  ];
};
