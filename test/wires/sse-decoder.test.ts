/** Tests the SSE decoder, split anywhere, against a plain implementation of the specification. */
import fc from 'fast-check';
import t from 'tap';
import { SseDecoder } from '../../src/engines/wires/shared/sse-decoder.ts';
import { orLong } from '../long.ts';
import { borrowed } from './borrowed-buffers.ts';

type Event = readonly [data: string, event: string];

const decode = (pieces: readonly Buffer[]): Event[] => {
  const events: Event[] = [];
  const decoder = new SseDecoder((text, start, end, event) => events.push([text.slice(start, end), event]));
  for (const piece of borrowed(pieces)) decoder.push(piece);
  decoder.end();
  return events;
};

/** The whole text at once, line by line, as in the specification; an unfinished last event counts. */
const reference = (text: string): Event[] => {
  const events: Event[] = [];
  let data: string[] = [];
  let event = '';
  const dispatch = (): void => {
    if (data.join('\n') !== '') events.push([data.join('\n'), event]);
    data = [];
    event = '';
  };
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const [name = '', ...rest] = line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    if (line === '') dispatch();
    else if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
  }
  dispatch();
  return events;
};

t.test('examples', async (t) => {
  const cases: readonly (readonly [string, readonly Event[]])[] = [
    [
      'data: a\n\ndata:b\n\n',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    [
      'data: a\r\n\r\ndata: b\r\rdata: c\n\n',
      [
        ['a', ''],
        ['b', ''],
        ['c', ''],
      ],
    ],
    ['\ufeffdata: a\n\n', [['a', '']]],
    ['\ufeff\n\ufeffdata: a\n\n', []],
    [': comment\n\n:\n\ndata: a\n\n', [['a', '']]],
    ['data: one\ndata: two\ndata\n\n', [['one\ntwo\n', '']]],
    [
      'event: error\ndata: a\n\ndata: b\n\n',
      [
        ['a', 'error'],
        ['b', ''],
      ],
    ],
    ['event: x\n\ndata: b\n\n', [['b', '']]],
    ['data:\n\ndata: \n\ndata\n\n', []],
    ['data:  two spaces\n\n', [[' two spaces', '']]],
    ['datax: a\nid: 7\nretry: 1\n\ndata: a', [['a', '']]],
    ['data: never ended\n', [['never ended', '']]],
    ['', []],
  ];
  for (const [text, events] of cases) {
    t.strictSame(decode([Buffer.from(text)]), events, JSON.stringify(text));
    t.strictSame(reference(text), events, `reference: ${JSON.stringify(text)}`);
  }
});

t.test('any stream, split anywhere, is decoded by the specification', async (t) => {
  const line = fc.oneof(
    fc.constantFrom(
      'data: a',
      'data:',
      'data',
      'data: {"x":"y"}',
      ': c',
      'event: e',
      'event:',
      'id: 1',
      'odd',
      '',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }).map((words) => `data: ${Buffer.from(words).toString()}`),
  );
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n', '\n\n')), { maxLength: 20 });
  fc.assert(
    fc.property(stream, fc.boolean(), fc.array(fc.nat(300), { maxLength: 8 }), (lines, bom, cuts) => {
      const text = `${bom ? '\ufeff' : ''}${lines.flat().join('')}`;
      const bytes = Buffer.from(text);
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      const expected = JSON.stringify(reference(text));
      return (
        JSON.stringify(decode(pieces)) === expected &&
        JSON.stringify(decode([...bytes].map((byte) => Buffer.from([byte])))) === expected
      );
    }),
    { numRuns: orLong(500, 2000) },
  );
  t.pass('agreed');
});

t.test('an event received in one read is not copied', async (t) => {
  const seen: [string, number, number][] = [];
  const decoder = new SseDecoder((text, start, end) => seen.push([text, start, end]));
  decoder.push(Buffer.from('data: one\n\ndata: two\n\n'));
  t.strictSame(seen, [
    ['data: one\n\ndata: two\n\n', 6, 9],
    ['data: one\n\ndata: two\n\n', 17, 20],
  ]);
});

t.test('a long line in small chunks is scanned once', async (t) => {
  const piece = Buffer.alloc(16, 'x');
  let events = 0;
  const decoder = new SseDecoder(() => events++);
  decoder.push(Buffer.from('data: '));
  // Quadratic work would be some 10^10 steps here.
  for (let count = 0; count < 200_000; count++) decoder.push(piece);
  decoder.push(Buffer.from('\n\n'));
  t.equal(events, 1);
});

t.test('lines and events have a bound', async (t) => {
  const megabyte = Buffer.alloc(1 << 20, 'x');
  const grow = (pieces: readonly Buffer[]) => () => {
    const decoder = new SseDecoder(() => undefined);
    for (const piece of pieces) decoder.push(piece);
  };
  const message = 'The engine sent an event that is too long';
  t.throws(grow([megabyte, megabyte, megabyte, megabyte, megabyte]), { message });
  const line = Buffer.concat([Buffer.from('data: '), megabyte, Buffer.from('\n')]);
  t.throws(grow([line, line, line, line, line]), { message });
  const comment = Buffer.concat([Buffer.from(': '), megabyte, Buffer.from('\n')]);
  t.doesNotThrow(grow([comment, comment, comment, comment, comment, comment]));
});
