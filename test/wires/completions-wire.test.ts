/** Tests how text completions of several servers are decoded, split at every byte. */
import t from 'tap';
import { completionWire } from '../../src/engines/wires/openai/completions.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import type { CompletionCall } from '../../src/ports/engines/completion.ts';
import { someOf } from '../long.ts';
import { sampleModel } from '../samples.ts';
import { joined } from './samples.ts';

const call = (change: Partial<CompletionCall> = {}): CompletionCall => ({
  prompts: ['Once'],
  stream: true,
  maxTokens: 16,
  n: 1,
  sampling: {},
  stop: [],
  logprobs: undefined,
  echo: false,
  user: undefined,
  ...change,
});

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const text = (words: string, choice = 0) => ({ type: 'text', choice, text: words });
const finish = (reason: string, choice = 0) => ({ type: 'finish', choice, reason, native: reason });
const usage = (prompt: number, completion: number) => ({
  type: 'usage',
  usage: { prompt, completion, cached: 0, reasoning: 0 },
});

/** In the shape of each server; every one sends more tokens than it takes to learn its skeleton. */
const vllm = (index: number, words: string, reason: string | null = null) =>
  event({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ index, text: words, logprobs: null, finish_reason: reason, stop_reason: null }],
    usage: null,
  });
const counts = { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 };
const words = [' upon', ' a', ' "time"', ' é\n', ' 😀', ' there'];
const said = text(words.join(''));

const streams: readonly (readonly [name: string, stream: string, parts: readonly unknown[], n?: number])[] = [
  [
    'vLLM, SGLang',
    `${words.map((word, at) => vllm(0, word, at === words.length - 1 ? 'length' : null)).join('')}${event({ id: 'cmpl-1', choices: [], usage: counts })}data: [DONE]\n\n`,
    [said, finish('length'), usage(3, 6)],
  ],
  [
    'llama.cpp',
    `${words.map((word) => event({ choices: [{ text: word, index: 0, logprobs: null, finish_reason: null }], created: 1, model: 'm', system_fingerprint: 'b1', object: 'text_completion', id: 'x' })).join('')}${event({ choices: [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }], usage: counts })}data: [DONE]\n\n`,
    [said, finish('stop'), usage(3, 6)],
  ],
  [
    'Ollama',
    `${words.map((word) => event({ id: 'cmpl-7', object: 'text_completion', created: 1, choices: [{ text: word, index: 0, finish_reason: null }], model: 'm', system_fingerprint: 'fp_ollama' })).join('')}${event({ choices: [{ text: '', index: 0, finish_reason: 'stop' }] })}${event({ choices: [], usage: counts })}data: [DONE]\n\n`,
    [said, finish('stop'), usage(3, 6)],
  ],
  [
    'choices that take turns',
    `${['a', 'b', 'c', 'd'].map((word) => vllm(0, word) + vllm(1, word.toUpperCase())).join('')}${vllm(1, '', 'stop')}${vllm(0, '', 'length')}data: [DONE]\n\n`,
    [text('abcd'), text('ABCD', 1), finish('stop', 1), finish('length')],
    2,
  ],
];

const byChoice = (parts: Parts): readonly unknown[] => {
  const order = (part: Part) => (part.type === 'text' ? part.choice : 9);
  return joined([...parts].sort((one, other) => order(one) - order(other)));
};

t.test('streams, split at every byte', async (t) => {
  for (const [name, stream, expected, n = 1] of streams) {
    const bytes = Buffer.from(stream);
    let different = 0;
    for (const at of someOf([...bytes.keys(), bytes.length], 60)) {
      const decoder = completionWire.decodeStream(sampleModel(), call({ n }));
      const parts = [
        ...decoder.push(bytes.subarray(0, at)),
        ...decoder.push(bytes.subarray(at)),
        ...decoder.end(),
      ];
      if (JSON.stringify(byChoice(parts)) !== JSON.stringify(expected) || decoder.failure !== undefined) {
        t.strictSame(byChoice(parts), expected, `${name}, split at ${at}`);
        different++;
        break;
      }
    }
    t.equal(different, 0, name);
  }
});

t.test('whole answers, known shapes and new ones', async (t) => {
  const answer = (choices: readonly object[]) =>
    Buffer.from(JSON.stringify({ id: 'cmpl-1', object: 'text_completion', choices, usage: counts }));
  const one = answer([{ index: 0, text: 'a "b"\n😀', logprobs: null, finish_reason: 'stop' }]);
  for (let again = 0; again < 3; again++) {
    const parts = completionWire.decodeWhole(sampleModel(), call(), one);
    t.strictSame(joined(parts), [text('a "b"\n😀'), finish('stop'), usage(3, 6)]);
  }
  const two = answer([
    { index: 0, text: 'a', finish_reason: 'stop' },
    { index: 1, text: 'b', finish_reason: 'length' },
  ]);
  t.strictSame(joined(completionWire.decodeWhole(sampleModel(), call({ prompts: ['x', 'y'] }), two)), [
    text('a'),
    finish('stop'),
    text('b', 1),
    finish('length', 1),
    usage(3, 6),
  ]);
});

t.test('log-probabilities in both shapes', async (t) => {
  const chunk = (logprobs: object) =>
    Buffer.from(event({ choices: [{ index: 0, text: 'On', logprobs, finish_reason: null }] }));
  const read = (logprobs: object) => {
    const decoder = completionWire.decodeStream(sampleModel(), call({ logprobs: { top: 1 } }));
    const [part] = decoder.push(chunk(logprobs));
    return part?.type === 'text' ? part.logprobs : undefined;
  };
  t.strictSame(
    read({
      tokens: ['O', 'n'],
      token_logprobs: [null, -0.5],
      top_logprobs: [null, { n: -0.5 }],
      text_offset: [0, 1],
    }),
    [
      { token: 'O', logprob: null, bytes: null, top_logprobs: [] },
      { token: 'n', logprob: -0.5, bytes: null, top_logprobs: [{ token: 'n', logprob: -0.5, bytes: null }] },
    ],
  );
  t.strictSame(read({ content: [{ token: 'On', logprob: -1, bytes: [79, 110], top_logprobs: [] }] }), [
    { token: 'On', logprob: -1, bytes: [79, 110], top_logprobs: [] },
  ]);
});
