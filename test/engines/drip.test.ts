/** Tests that an engine whose response comes a byte at a time takes little memory per byte. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { wholeBody } from '../../src/engines/calls.ts';
import { PendingReads } from '../../src/engines/http1/pending-reads.ts';
import { JsonPicker } from '../../src/engines/wires/shared/json-picker.ts';
import { SseDecoder } from '../../src/engines/wires/shared/sse-decoder.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { someOf } from '../long.ts';
import { memoryInUse } from '../memory-in-use.ts';

interface ChatAnswer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

/** Bytes in memory for each that was read, one by one. */
const perByte = async (text: string, open: () => (byte: Buffer) => unknown): Promise<number> => {
  const bytes = Buffer.from(text);
  const before = await memoryInUse();
  const push = open();
  for (let at = 0; at < bytes.length; at++) push(bytes.subarray(at, at + 1));
  const after = await memoryInUse();
  // Still in use.
  push(Buffer.from(' '));
  return (after - before) / bytes.length;
};

const long = 256 * 1024;

t.test('decoders', async (t) => {
  const cases: Readonly<Record<string, readonly [string, () => (byte: Buffer) => unknown]>> = {
    'a line of server-sent events': [
      `data: ${'a'.repeat(long)}`,
      () => {
        const decoder = new SseDecoder(() => undefined);
        return (byte) => decoder.push(byte);
      },
    ],
    'an event of many lines': [
      'data:a\n'.repeat(long / 7),
      () => {
        const decoder = new SseDecoder(() => undefined);
        return (byte) => decoder.push(byte);
      },
    ],
    'a value of a JSON response': [
      `{"wanted":"${'a'.repeat(long)}`,
      () => {
        const picker = new JsonPicker({ keys: new Map([['wanted', { raw: () => undefined }]]) }, undefined);
        return (byte) => picker.push(Buffer.from(byte));
      },
    ],
    'a whole response': [
      'a'.repeat(long),
      () => {
        const body = wholeBody();
        return (byte) => body.push(Buffer.from(byte));
      },
    ],
    'reads that wait': [
      'a'.repeat(long),
      () => {
        const reads = new PendingReads();
        return (byte) => reads.add(byte);
      },
    ],
  };
  for (const [name, [text, open]] of someOf(Object.entries(cases), 2)) {
    const factor = await perByte(text, open);
    t.ok(factor < 6, `${name}: ${factor.toFixed(1)} bytes per byte`);
  }
});

t.test('a chat response at the socket', async (t) => {
  const sockets: Socket[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n');
      sockets.push(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway = await startGateway({
    catalog: `engines:
  drip: { wire: openai, replicas: ['http://127.0.0.1:${(server.address() as AddressInfo).port}/v1'] }
models:
  test/drip: { engine: drip, context_length: 8192, tokenizer: simulator }
`,
  });
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await gateway.stop();
  });
  const ask = () =>
    fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/drip', messages: [{ role: 'user', content: 'Hello' }] }),
    });
  const responseOf = (content: string): string =>
    JSON.stringify({
      id: 'drip',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  // What the first request loads stays in memory.
  const first = ask();
  (await eventually(() => sockets[0], 'the first call')).end(responseOf('short'));
  t.equal((await first).status, 200);
  const asked = ask();
  const socket = await eventually(() => sockets[1], 'the call');
  const content = 'a'.repeat(60_000);
  const response = responseOf(content);
  const before = await memoryInUse();
  for (const byte of response.slice(0, -1)) {
    socket.write(byte);
    await turn();
  }
  const grown = (await memoryInUse()) - before;
  t.ok(grown < 2_000_000, `${response.length} bytes take ${grown}`);
  socket.end(response.slice(-1));
  const answer = await asked;
  t.equal(answer.status, 200);
  t.equal(((await answer.json()) as ChatAnswer).choices[0]?.message.content, content);
});
