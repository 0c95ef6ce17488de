/** Inputs of the micro-benchmarks: the same request, chunk and response as in the scenarios. */
import { pino } from 'pino';
import { EMPTY, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { type ChatCall, type Parts, toJsonText } from '../../src/ports/engines/chat.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import * as chunks from '../chunks.ts';
import { chatRequest } from '../load/request.ts';

export const model: Model = resolveRow('bench/model', {
  engine: 'bench',
  kind: 'chat',
  context_length: 131_072,
  pricing: { prompt: '0.0000005', completion: '0.0000015' },
  limits: { concurrency: 100_000, requests_per_minute: 100_000_000 },
});

export const engineRow: EngineRow = { wire: 'openai', replicas: ['http://127.0.0.1:1/v1'] };

/** The body of the scenarios' request. */
export const requestBody = (stream: boolean): Buffer => {
  const request = chatRequest({ port: 1, path: '/', headers: {}, model: model.id }, stream, { tokens: 64 });
  return request.subarray(request.indexOf('\r\n\r\n') + 4);
};

export const chunkStart = chunks.chunkStart('0123456789abcdef0123456789abcdef', model.id);
export const tokenChunk = (index: number): Buffer =>
  Buffer.from(chunks.tokenChunk(chunkStart, chunks.tokenText(index, 0)));
export const wholeAnswer = Buffer.from(chunks.wholeAnswer('0123456789abcdef', model.id, 120, 64, 0));

export const call: ChatCall = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'You are a careful assistant.' }] },
    {
      role: 'user',
      content: [{ type: 'text', text: 'What should be measured before the move? '.repeat(10) }],
    },
  ],
  stream: true,
  maxTokens: 2048,
  n: 1,
  continueFinal: false,
  thinking: { effort: undefined, budget: undefined },
  sampling: { temperature: 0.7 },
  stop: [],
  logprobs: undefined,
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: undefined,
  format: { type: 'text' },
  user: undefined,
};

export const tokenParts: Parts = [{ type: 'text', choice: 0, text: toJsonText(' answer') }];

export const wholeParts: Parts = [
  { type: 'text', choice: 0, text: toJsonText(' the answer is written'.repeat(15)) },
  { type: 'finish', choice: 0, reason: 'stop', native: 'stop' },
  { type: 'usage', usage: { prompt: 120, completion: 64, cached: 0, reasoning: 0 } },
];

/** A request whose body is complete. */
export const exchangeOf = (bytes: Buffer): Exchange => ({
  id: 'req_0123456789abcdef012345671',
  method: 'POST',
  path: '/v1/chat/completions',
  params: {},
  query: '',
  header: (name) => (name === 'content-type' ? 'application/json' : ''),
  body: {
    length: bytes.length,
    prefix: () => EMPTY,
    whole: () => of(bytes),
    chunks: () => EMPTY,
    admitted: () => {},
  },
  backpressure: new Backpressure(),
  dialect: 'envelope',
  log: silent,
});

export const silent = pino({ level: 'silent' });
export const caller = { subscription: 'sub_0123456789abcdef01234567', key: 'key_0123456789abcdef01234567' };
