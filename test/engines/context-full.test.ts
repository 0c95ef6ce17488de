/** Tests that an engine's refusal of a long prompt becomes the error that clients recognise. */
import t from 'tap';
import type { RunningEngine } from '../../src/engines/engine.ts';
import { sampleModel } from '../samples.ts';
import { Collected, engineOn } from './collect.ts';
import { event, startScriptedEngine, token } from './scripted-engine.ts';

const ask = (engine: RunningEngine) =>
  new Collected(engine, {}, undefined, sampleModel({ context_length: 8192 })).outcome();

const full = (prompt: number, maximum: number, window: number) => [
  'context_full',
  `prompt is too long: ${prompt} tokens > ${maximum} maximum. This model's maximum context length is ${window} tokens; shorten the prompt`,
];

/** What servers say, and the tokens of the error made of it. The call asks for 100 tokens of a window of 8192. */
const refusals: readonly (readonly [status: number, body: object, tokens: [number, number, number]])[] = [
  // vLLM, from old to new
  [
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 6108 tokens (6008 in the messages, 100 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      code: 400,
    },
    [6008, 4095, 4096],
  ],
  [
    400,
    {
      error: {
        message:
          'The decoder prompt (length 6008) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
      },
    },
    [6008, 4095, 4096],
  ],
  [
    400,
    {
      error: {
        message:
          "You passed 3997 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=3997)",
        param: 'input_tokens',
        code: 400,
      },
    },
    [3997, 3996, 4096],
  ],
  // SGLang
  [
    400,
    {
      object: 'error',
      message: "The input (6008 tokens) is longer than the model's context length (4096 tokens).",
    },
    [6008, 4095, 4096],
  ],
  [
    400,
    {
      object: 'error',
      message:
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4105 tokens: 4005 tokens from the input messages and 100 tokens for the completion.",
    },
    [4005, 3996, 4096],
  ],
  // llama.cpp, new and old
  [
    400,
    {
      error: {
        code: 400,
        message: 'request (6008 tokens) exceeds the available context size (4096 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    },
    [6008, 4095, 4096],
  ],
  [
    500,
    {
      error: { code: 500, message: 'the request exceeds the available context size.', type: 'server_error' },
    },
    [8192, 8191, 8192],
  ],
  // Ollama
  [400, { error: { message: 'the input length exceeds the context length' } }, [8192, 8191, 8192]],
  [500, { error: 'the input length exceeds the context length' }, [8192, 8191, 8192]],
  // TGI, llama-cpp-python, OpenAI
  [
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 6008 `inputs` tokens and 100 `max_new_tokens`',
    },
    [6008, 4095, 4096],
  ],
  [400, { error: { message: 'Requested tokens (6008) exceed context window of 4096' } }, [6008, 4095, 4096]],
  [
    400,
    {
      error: {
        message:
          "This model's maximum context length is 4096 tokens. However, your messages resulted in 6008 tokens. Please reduce the length of the messages.",
        code: 'context_length_exceeded',
      },
    },
    [6008, 4095, 4096],
  ],
  // another Sluice
  [
    400,
    {
      error: {
        code: 400,
        message:
          "prompt is too long: 6008 tokens > 4064 maximum. This model's maximum context length is 4096 tokens; shorten messages",
      },
    },
    [6008, 4064, 4096],
  ],
];

t.test('refusals of several servers, as statuses and inside streams', async (t) => {
  for (const [status, body, tokens] of refusals) {
    let inStream = false;
    const server = await startScriptedEngine((request) => {
      if (!inStream) return request.json(status, body);
      request.streamHead();
      request.chunk(token('Hel') + event(body));
      return request.end();
    });
    const engine = engineOn([server.url]);
    const said = JSON.stringify(body);
    const refused = await ask(engine);
    t.strictSame(refused.error, full(...tokens), said);
    t.equal(engine.health(), 'ok', 'the replica is not at fault');
    inStream = true;
    const broken = await ask(engine);
    t.match(broken.parts.at(-1), ['failure', ...full(...tokens)], said);
    await engine.close();
    await server.close();
  }
});

t.test('other refusals stay as they are', async (t) => {
  const others = [
    "max_tokens is too large: 100. This model's maximum context length is 50 tokens and your request has 9 input tokens",
    'temperature must be at most 2',
    'the context is empty',
  ];
  for (const message of others) {
    const server = await startScriptedEngine((request) => request.json(400, { error: { message } }));
    const engine = engineOn([server.url]);
    const { error } = await ask(engine);
    t.strictSame(error, ['invalid_request', message]);
    await engine.close();
    await server.close();
  }
});
