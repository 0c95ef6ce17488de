/** Tests that a second wire, defined here only, works without changes to the engine code. */
import t from 'tap';
import type { EngineRow } from '../../schemas/engines.ts';
import { createEngine } from '../../src/engines/engine.ts';
import { createEngines } from '../../src/engines/table.ts';
import type { StreamDecoder, Wire } from '../../src/engines/wire.ts';
import { fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { type ChatCall, type Part, type Parts, toJsonText } from '../../src/ports/engines/chat.ts';
import { ask, Collected, silent } from '../engines/collect.ts';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { sampleModel } from '../samples.ts';

/** What the made-up server sends: one object per line in a stream, one object otherwise. */
interface Message {
  readonly output?: string;
  readonly stopped?: 'end' | 'limit';
  readonly counts?: { readonly read: number; readonly written: number };
}

const partsOf = ({ output, stopped, counts }: Message): Parts => {
  const parts: Part[] = [];
  if (output !== undefined) parts.push({ type: 'text', choice: 0, text: toJsonText(output) });
  if (stopped !== undefined)
    parts.push({ type: 'finish', choice: 0, reason: stopped === 'end' ? 'stop' : 'length', native: stopped });
  if (counts !== undefined) {
    const { read: prompt, written: completion } = counts;
    parts.push({ type: 'usage', usage: { prompt, completion, cached: 0, reasoning: 0 } });
  }
  return parts;
};

class LineDecoder implements StreamDecoder {
  done = false;
  failure: StreamDecoder['failure'];
  #rest = '';

  push(bytes: Buffer): Parts {
    const lines = (this.#rest + bytes.toString()).split('\n');
    this.#rest = lines.pop() ?? '';
    const messages = lines.map((line) => JSON.parse(line) as Message);
    this.done = messages.some(({ stopped }) => stopped !== undefined);
    return messages.flatMap(partsOf);
  }

  end(): Parts {
    if (!this.done) this.failure = fail('engine_unreachable', 'The engine ended its answer early');
    return [];
  }
}

const promptOf = ({ messages }: ChatCall): string =>
  messages
    .flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? part.text : [])))
    .join();

const lineWire: Wire = {
  headers: (key) => ({ 'api-version': '2', ...(key === undefined ? {} : { 'x-api-key': key }) }),
  readError: (status, body) => ({ status: status === 418 ? 429 : status, message: JSON.parse(body).reason }),
  chat: {
    encode: (model, call) => ({
      path: `/models/${model.served_as}/${call.stream ? 'stream' : 'generate'}`,
      body: JSON.stringify({ prompt: promptOf(call), limit: call.maxTokens }),
    }),
    decodeStream: () => new LineDecoder(),
    decodeWhole: (_model, _call, body) => partsOf(JSON.parse(body.toString())),
  },
};

const vectorWire: Wire = {
  headers: () => ({}),
  readError: (status) => ({ status, message: undefined }),
  embeddings: {
    encode: (_model, { inputs }) => ({ path: '/vectors', body: JSON.stringify(inputs) }),
    decode: () => {
      const pieces: Buffer[] = [];
      return {
        push: (bytes) => void pieces.push(bytes),
        end: () => ({ vectors: JSON.parse(Buffer.concat(pieces).toString()).map(Buffer.from), tokens: 7 }),
      };
    },
    isAboutSize: () => false,
  },
};

const wires = new Map([
  ['lines', lineWire],
  ['vectors', vectorWire],
]);
const options = { log: silent, env: { LINES_KEY: 'secret' }, wires };

const hello = {
  parts: [
    { type: 'text', choice: 0, text: 'Hello' },
    { type: 'finish', choice: 0, reason: 'stop', native: 'end' },
    { type: 'usage', usage: { prompt: 3, completion: 2, cached: 0, reasoning: 0 } },
  ],
  error: undefined,
};
const last = '{"stopped":"end","counts":{"read":3,"written":2}}\n';

t.test('chat: paths by model and kind of response, a key in a header of its own, other JSON', async (t) => {
  const server = await startScriptedEngine((request) => {
    if (!request.head.includes('/stream ')) {
      request.json(200, { output: 'Hello', stopped: 'end', counts: { read: 3, written: 2 } });
      return;
    }
    request.raw(
      'HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    request.chunk('{"output":"Hel"}\n{"out');
    request.chunk(`put":"lo"}\n${last}`);
    request.end();
  });
  const row: EngineRow = { wire: 'lines', replicas: [server.url], key_env: 'LINES_KEY' };
  const engine = createEngine('pool-a', row, options);
  t.strictSame(
    Object.keys(engine).sort(),
    ['chat', 'close', 'health', 'setDrained', 'setReplicas', 'stats'],
    'it does nothing but chat',
  );
  t.strictSame(await ask(engine, { stream: true }), hello);
  t.strictSame(await ask(engine, { stream: false }), hello);
  t.match(server.requests[0]?.head, /^POST \/v1\/models\/writer-large-fp8\/stream HTTP/);
  t.match(server.requests[1]?.head, /^POST \/v1\/models\/writer-large-fp8\/generate HTTP/);
  for (const { head, body } of server.requests) {
    t.match(
      head,
      /\r\ncontent-type: application\/json\r\napi-version: 2\r\nx-api-key: secret\r\nx-request-id: req-1\r\n/,
    );
    t.notMatch(head, /authorization/i);
    t.strictSame(JSON.parse(body), { prompt: 'Hello', limit: 100 });
  }
  await server.close();
  await engine.close();
});

t.test('errors are read by the wire, and a response that breaks off is a failure', async (t) => {
  const server = await startScriptedEngine((request) => request.json(400, { reason: 'The prompt is empty' }));
  const row: EngineRow = { wire: 'lines', replicas: [server.url], headers: { 'Api-Version': '3' } };
  const engine = createEngine('pool-a', row, options);
  t.strictSame((await ask(engine)).error, ['invalid_request', 'The prompt is empty']);
  t.match(server.requests[0]?.head, /\r\napi-version: 3\r\n/, "the row's header replaces the wire's");
  t.notMatch(server.requests[0]?.head, /x-api-key/, 'a row without a key');
  server.script = (request) => request.json(418, { reason: 'busy' });
  t.strictSame((await ask(engine)).error, ['unavailable', 'The model is busy, try again']);
  server.script = (request) => {
    request.raw(
      'HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    request.chunk('{"output":"Hel"}\n');
    request.end();
  };
  t.match(await new Collected(engine).outcome(), {
    parts: [
      { type: 'text', text: 'Hel' },
      ['failure', 'engine_unreachable', 'The engine ended its answer early'],
    ],
  });
  await server.close();
  await engine.close();
});

t.test(
  'a wire may serve other operations than chat; the table takes both, and refuses unknown names',
  async (t) => {
    const server = await startScriptedEngine((request) => request.json(200, ['[1,2]', '[3,4]']));
    const rowOf = (wire: string): EngineRow => ({ wire, replicas: [server.url] });
    const table = createEngines({ a: rowOf('lines'), b: rowOf('vectors') }, { ...options, simulator: {} });
    const engine = table.of(sampleModel({ engine: 'b' }));
    t.equal(engine.chat, undefined);
    const pieces: unknown[] = [];
    const call = { inputs: ['a', 'b'], encoding: 'float', dimensions: undefined } as const;
    const backpressure = new Backpressure();
    await engine
      .embed?.(sampleModel(), call, { requestId: 'req-1', subscription: 'sub_1', backpressure })
      .forEach(({ first, vectors, tokens }) => void pieces.push([first, vectors.map(String), tokens]));
    t.strictSame(pieces, [[0, ['[1,2]', '[3,4]'], 7]]);
    t.match(server.requests[0]?.head, /^POST \/v1\/vectors HTTP/);
    for (const wire of ['openai', 'constructor'])
      t.throws(() => table.replace({ a: rowOf(wire) }), {
        message: 'engines.a.wire must be one of lines, vectors',
      });
    await server.close();
    await table.close();
  },
);
