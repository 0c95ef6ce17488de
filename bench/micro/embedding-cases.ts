/** Micro-benchmarks of embeddings and decisions; an operation is a batch of inputs. */
import { of } from 'rxjs';
import { embeddings } from '../../pipelines/embeddings/embeddings.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { embeddingWire } from '../../src/engines/wires/openai/embed.ts';
import { continuationWire } from '../../src/engines/wires/openai/score.ts';
import { writeVector } from '../../src/helpers/vectors.ts';
import type { Embedded, EmbeddingCall, VectorEncoding } from '../../src/ports/engines/embedding.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { embedText } from '../../src/simulator/embeddings/embed-text.ts';
import { portsFor } from './pipeline-cases.ts';
import type { MicroCase } from './run.ts';
import { caller, exchangeOf } from './samples.ts';

const dimensions = 1024;
const batch = 64;
const readBytes = 64 * 1024;

const model = resolveRow('bench/embed', {
  kind: 'embedding',
  engine: 'bench',
  context_length: 8192,
  pricing: { prompt: '0.00000002' },
  capabilities: { embedding: { dimensions, truncatable: true, batch } },
  limits: { concurrency: 100_000, requests_per_minute: 100_000_000 },
});

const text = 'The moon pulls on the oceans, and twice a day the tide rises and falls along the coast. ';
const inputs = Array.from({ length: batch }, (_, index) => `${index} ${text.repeat(3)}`);
const vectors = inputs.map((input) => embedText(input, { dimensions, nested: false }));

/** As an engine sends a batch: doubles with all their digits, or base64. */
const answerOf = (encoding: VectorEncoding): Buffer =>
  Buffer.from(
    JSON.stringify({
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding:
          encoding === 'float'
            ? [...vector.map((value) => value + 0.001)]
            : JSON.parse(writeVector(vector, encoding).toString()),
      })),
      model: model.id,
      usage: { prompt_tokens: 4000, total_tokens: 4000 },
    }),
  );
const answers = { float: answerOf('float'), base64: answerOf('base64') };

const decode =
  (given: VectorEncoding, asked: Pick<EmbeddingCall, 'encoding' | 'dimensions'>) => (): unknown => {
    const decoder = embeddingWire.decode({ inputs, ...asked }, batch);
    const answer = answers[given];
    for (let at = 0; at < answer.length; at += readBytes) decoder.push(answer.subarray(at, at + readBytes));
    return decoder.end();
  };
const whole = { dimensions: undefined };

const few = 8;
const embedded: Embedded = {
  first: 0,
  vectors: vectors.slice(0, few).map((vector) => writeVector(vector, 'base64')),
  tokens: 500,
};
const ports = portsFor(() => of([]), { embed: () => of(embedded) }, model);
const request = Buffer.from(
  JSON.stringify({ model: model.id, input: inputs.slice(0, few), encoding_format: 'base64' }),
);
const exchange = exchangeOf(request);
const pipeline = embeddings(ports);
let reply: Reply | undefined;

/** A choice of 255 after a prompt of two thousand tokens, as vLLM echoes it: one of many parts. */
const labels = Array.from({ length: 16 }, (_, index) => ({
  label: ` ${index + 1}\n`,
  name: '',
  description: undefined,
}));
const tokens = Array.from({ length: 2000 }, (_, index) => ` word${index}`);
const echoes = Buffer.from(
  JSON.stringify({
    choices: labels.map(({ label }, index) => {
      const all = [...tokens, label.slice(0, -1), '\n', ' The'];
      return {
        index,
        text: all.join(''),
        logprobs: {
          text_offset: all.map((_, at) => at * 6),
          token_logprobs: all.map((_, at) => -1.25 - at / 1000),
          tokens: all,
          top_logprobs: all.map((token) => ({ [token]: -1.25, other: -2.5 })),
        },
      };
    }),
  }),
);
const decodeEchoes = (): unknown => {
  const decoder = continuationWire.decode(labels);
  for (let at = 0; at < echoes.length; at += readBytes) decoder.push(echoes.subarray(at, at + readBytes));
  return decoder.end();
};

export const embeddingCases: readonly MicroCase[] = [
  {
    name: 'embeddings: encode a call of 64 inputs',
    run: () => embeddingWire.encode(model, { inputs, encoding: 'base64', ...whole }),
  },
  {
    name: 'embeddings: 64 × 1024, base64 forwarded',
    run: decode('base64', { encoding: 'base64', ...whole }),
  },
  { name: 'embeddings: 64 × 1024, numbers forwarded', run: decode('float', { encoding: 'float', ...whole }) },
  {
    name: 'embeddings: 64 × 1024, numbers to base64',
    run: decode('float', { encoding: 'base64', ...whole }),
  },
  {
    name: 'embeddings: 64 × 1024 cut to 256, base64',
    run: decode('base64', { encoding: 'base64', dimensions: 256 }),
  },
  {
    name: 'embeddings: 64 × 1024 cut to 256, numbers',
    run: decode('base64', { encoding: 'float', dimensions: 256 }),
  },
  {
    name: 'embeddings: a request of 8, no engine or socket',
    run: () => {
      pipeline(exchange, { exchange, caller }).subscribe((next) => {
        reply = next;
      });
      return reply;
    },
  },
  {
    name: 'simulator: embed 270 characters',
    run: () => embedText(inputs[0] ?? '', { dimensions, nested: true }),
  },
  { name: 'decisions: 16 answers after 2000 tokens', run: decodeEchoes },
];
