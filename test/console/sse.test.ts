/** Tests the pages' reader of server-sent events. */
import t from 'tap';
import { EventParser, readEvents } from '../../src/console/web/api/sse.ts';

const stream =
  ': a comment\r\n\r\ndata: one\r\n\r\nevent: named\ndata:two\ndata:  three\nid: 7\n\ndata\r\rid: 8\n\ndata: {"é":"€"}\n\ndata: cut off';
const expected = [
  { event: 'message', data: 'one', id: undefined, raw: 'data: one\n' },
  { event: 'named', data: 'two\n three', id: '7', raw: 'event: named\ndata:two\ndata:  three\nid: 7\n' },
  { event: 'message', data: '', id: '7', raw: 'data\n' },
  { event: 'message', data: '{"é":"€"}', id: '8', raw: 'data: {"é":"€"}\n' },
];

t.test('events, wherever the bytes are split', async (t) => {
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at <= bytes.length; at++) {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        for (const part of [bytes.slice(0, at), bytes.slice(at)]) controller.enqueue(part);
        controller.close();
      },
    });
    const events = [];
    for await (const { at: _, ...event } of readEvents({ body })) events.push(event);
    t.strictSame(events, expected, `split at ${at}`);
  }
});

t.test('who leaves the loop cancels the response', async (t) => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const event of readEvents({ body })) {
    t.equal(event.data, 'x');
    break;
  }
  t.ok(cancelled);
});

t.test('an event without end is refused', async (t) => {
  const parser = new EventParser();
  const part = 'x'.repeat(16 * 1024 * 1024);
  for (let count = 0; count < 4; count++) parser.push(part);
  t.throws(() => parser.push(part), { message: 'An event of the stream is too large' });
});
