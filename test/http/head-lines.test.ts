/** Tests that cached header lines equal freshly built ones. */
import t from 'tap';
import { exposedHeaders } from '../../src/http/cors.ts';
import { firstHeader, HeadLines } from '../../src/http/servers/head-lines.ts';

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

/** As a client reads them. */
const read = (lines: Uint8Array): Record<string, string> =>
  Object.fromEntries(
    `${firstHeader}: ${Buffer.from(lines)}`.split('\r\n').map((line) => line.split(': ') as [string, string]),
  );

t.test('every response has its own id and its own headers', async (t) => {
  const lines = new HeadLines();
  const asked = [json, json, json, events, json, events, events, json, { ...json }, { ...json }, json];
  for (const [index, headers] of asked.entries())
    for (const id of [`req_${index}`, `req_${index + 1}`, `req_0${index}`])
      t.strictSame(read(lines.of(headers, id)), {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': exposedHeaders,
        'x-request-id': id,
        'request-id': id,
        ...headers,
      });
});

t.test('more header lists than are cached', async (t) => {
  const lines = new HeadLines();
  const lists = Array.from({ length: 30 }, (_, index) => ({ 'x-list': String(index) }));
  for (const list of [...lists, ...lists])
    for (const id of ['req_a', 'req_b', 'req_c'])
      t.match(read(lines.of(list, id)), { 'x-request-id': id, 'request-id': id, ...list });
});

t.test('a value cannot break its line', async (t) => {
  const lines = new HeadLines();
  for (const _ of [1, 2, 3])
    t.match(read(lines.of({ 'x-odd': 'a\r\nx-evil: 1é' }, 'req_a')), { 'x-odd': 'a??x-evil' });
});
