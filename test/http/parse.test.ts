/** Tests parsing of JSON and form bodies, however they are chunked. */
import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { pino } from 'pino';
import { concatMap, firstValueFrom, lastValueFrom, map, Observable, of, reduce, toArray } from 'rxjs';
import t from 'tap';
import { compose } from '../../pipelines/core/compose.ts';
import { jsonFault } from '../../pipelines/core/json-fault.ts';
import { parseJson, receiveJson } from '../../pipelines/core/parse-json.ts';
import {
  type MultipartPart,
  type MultipartRules,
  parseMultipart,
} from '../../pipelines/core/parse-multipart.ts';
import { ApiError, fail } from '../../src/errors.ts';
import { notUtf8 } from '../../src/offload/parse-json.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { type Exchange, jsonReply } from '../../src/ports/exchange.ts';
import { open } from '../contracts/edge/probe.ts';
import { shared } from '../shared.ts';
import { startEdge } from './edge-fixture.ts';
import { request } from './raw-client.ts';
import { servers } from './servers.ts';

interface Body {
  readonly type?: string;
  readonly pieces: readonly Buffer[];
}

/** A request with only a body. It emits one chunk per tick, with backpressure. */
const exchange = ({ type = 'application/json', pieces }: Body): Exchange => ({
  id: 'req_test',
  method: 'POST',
  path: '/v1/test',
  params: {},
  query: '',
  header: (name) => (name === 'content-type' ? type : ''),
  body: {
    length: pieces.reduce((total, piece) => total + piece.length, 0),
    admitted: () => {},
    prefix: () => of(undefined),
    whole: () => of(Buffer.concat(pieces)),
    chunks: (backpressure) =>
      new Observable((subscriber) => {
        let at = 0;
        let turn: NodeJS.Immediate | undefined;
        const next = () => {
          turn = undefined;
          if (backpressure.paused) return;
          const piece = pieces[at++];
          if (piece === undefined) subscriber.complete();
          else subscriber.next(Buffer.from(piece));
          if (!subscriber.closed) turn = setImmediate(next);
        };
        backpressure.attach({
          pause: () => {},
          resume: () => {
            turn ??= setImmediate(next);
          },
        });
        turn = setImmediate(next);
        return () => clearImmediate(turn);
      }),
  },
  backpressure: new Backpressure(),
  dialect: 'envelope',
  log: pino({ level: 'silent' }),
});

type Parser = Parameters<typeof parseJson>[0];

const caller = { subscription: 'sub_1', key: 'key_1' };

const offload: Parser = shared({ parseJson: () => Promise.reject(new Error('not for this body')) });

const parsed = (port: Parser, asked: Exchange) =>
  compose(receiveJson(), parseJson(port))(asked, { exchange: asked, caller });

const json = (text: string | Buffer, port = offload) =>
  firstValueFrom(parsed(port, exchange({ pieces: [Buffer.from(text)] })));

t.test('JSON', async (t) => {
  t.same(await json('{"a":[1,"ü",null]}'), { a: [1, 'ü', null] });
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json;x=y'])
    t.same(await firstValueFrom(parsed(offload, exchange({ type, pieces: [Buffer.from('{}')] }))), {}, type);

  const tame = await json(
    '{"__proto__":{"polluted":1},"a":{"__proto__":[],"constructor":{"prototype":{"x":1}}}}',
  );
  t.same(Object.keys(tame), ['a']);
  t.same(Object.keys(Object(tame.a)), ['constructor']);
  t.equal(Object.getPrototypeOf(tame), Object.prototype);
  t.notOk('polluted' in {}, 'nothing is polluted');

  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  t.ok(await json(nested(64)));
  await t.rejects(json(nested(65)), { message: 'The request body is nested more than 64 levels deep' });
  await t.rejects(json(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), {
    message: 'The request body is nested more than 64 levels deep',
  });
  t.equal((await json('{"a":1e400}')).a, Number.POSITIVE_INFINITY);
});

t.test('large JSON is parsed in a worker thread', async (t) => {
  const text = JSON.stringify({ a: 'x'.repeat(300_000) });
  let aborted = false;
  const thread: ReturnType<Parser['for']> = {
    parseJson: async (bytes, signal) => {
      signal?.addEventListener('abort', () => {
        aborted = true;
      });
      if (!isUtf8(bytes)) throw fail('invalid_request', notUtf8);
      return JSON.parse(Buffer.from(bytes).toString()) as unknown;
    },
  };
  const elsewhere = shared(thread);
  t.same(await json(text, elsewhere), JSON.parse(text));
  await t.rejects(json(`${text}}`, elsewhere), { message: /^The request body is not valid JSON: / });
  await t.rejects(json(Buffer.concat([Buffer.from(text), Buffer.from([0xff])]), elsewhere), {
    message: 'The request body is not valid UTF-8',
  });
  aborted = false;
  const never = shared({
    parseJson: (bytes: Uint8Array, signal?: AbortSignal) =>
      thread.parseJson(bytes, signal).then(() => new Promise<never>(() => {})),
  });
  const running = parsed(never, exchange({ pieces: [Buffer.from(text)] })).subscribe();
  running.unsubscribe();
  t.equal(aborted, true, 'a client that leaves ends it');
});

t.test('the position of a syntax error in JSON', async (t) => {
  for (const [text, fault] of [
    ['', 'unexpected end at line 1 column 1'],
    ['{', 'unexpected end at line 1 column 2'],
    ['{"a":1', 'unexpected end at line 1 column 7'],
    ['{"a":}', 'unexpected "}" at line 1 column 6'],
    ['{"a":1,}', 'unexpected "}" at line 1 column 8'],
    ['{a:1}', 'unexpected "a" at line 1 column 2'],
    ["{'a':1}", 'unexpected "\'" at line 1 column 2'],
    ['{"a" 1}', 'unexpected "1" at line 1 column 6'],
    ['[1,2,]', 'unexpected "]" at line 1 column 6'],
    ['{"a":01}', 'unexpected "1" at line 1 column 7'],
    ['{"a":+1}', 'unexpected "+" at line 1 column 6'],
    ['{"a":1.}', 'unexpected "." at line 1 column 7'],
    ['{"a":tru}', 'unexpected "}" at line 1 column 9'],
    ['{"a":NaN}', 'unexpected "N" at line 1 column 6'],
    ['{"a":"\n"}', 'unexpected "\\n" at line 1 column 7'],
    ['{"a":"\\x"}', 'unexpected "\\\\" at line 1 column 7'],
    ['{"a":"\\u12"}', 'unexpected "\\\\" at line 1 column 7'],
    ['{\n  "a": 1\n  "b": 2\n}', 'unexpected "\\"" at line 3 column 3'],
    ['{"a":1}{"b":2}', 'unexpected "{" at line 1 column 8'],
    ['{"a":1} x', 'unexpected "x" at line 1 column 9'],
    ['\ufeff{}', 'unexpected "\ufeff" at line 1 column 1'],
    ['{"a":"👍"👍}', 'unexpected "👍" at line 1 column 10'],
    ['// c\n{}', 'unexpected "/" at line 1 column 1'],
  ] as const)
    t.equal(jsonFault(text), fault, JSON.stringify(text));

  const broken = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '{', ']', ',', ':', 'x', '\\', '\n', '0', '-'),
      fc.nat(2),
    )
    .map(([text, at, piece, cut]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + piece + text.slice(place + cut);
    });
  let compared = 0;
  fc.assert(
    fc.property(broken, (text) => {
      try {
        JSON.parse(text);
        return true;
      } catch (error) {
        const said = /at position (\d+)/.exec(String(error))?.[1];
        const [line, column] = /line (\d+) column (\d+)$/.exec(jsonFault(text))?.slice(1).map(Number) ?? [];
        if (said === undefined || line !== 1 || text.includes('\\') || /-|\d/.test(text))
          return line !== undefined;
        compared++;
        return column === Number(said) + 1;
      }
    }),
    { numRuns: 3000, seed: 7 },
  );
  t.ok(compared > 100, `the parser's own place agrees (${compared} times)`);
});

// ── forms ──────────────────────────────────────────────────────────────────────────────────────────

const boundary = 'X-BOUNDARY';
const formType = `multipart/form-data; boundary=${boundary}`;

interface Part {
  readonly name?: string;
  readonly filename?: string;
  readonly type?: string;
  readonly content: string | Buffer;
  readonly headers?: string;
}

const form = (parts: readonly Part[], end = `--${boundary}--\r\n`): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, filename, type, content, headers = '' }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data${name === undefined ? '' : `; name="${name}"`}` +
          `${filename === undefined ? '' : `; filename="${filename}"`}\r\n` +
          `${type === undefined ? '' : `Content-Type: ${type}\r\n`}${headers}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ]);

const rules: MultipartRules = { maxFileBytes: 1000, maxFieldBytes: 100, maxParts: 6 };

/** Every part with its content. */
const read = (pieces: readonly Buffer[], use: MultipartRules = rules, type = formType) =>
  lastValueFrom(
    parseMultipart(exchange({ type, pieces }), use).pipe(
      concatMap((part: MultipartPart) => {
        if (part.kind === 'field') return of({ name: part.name, value: part.value });
        const { name, filename, mediaType } = part;
        return part.chunks(new Backpressure()).pipe(
          reduce((all, chunk) => Buffer.concat([all, chunk]), Buffer.alloc(0)),
          map((all) => ({ name, filename, mediaType, content: all.toString('latin1') })),
        );
      }),
      toArray(),
    ),
  );

t.test('forms, split anywhere', async (t) => {
  const bytes = form([
    { name: 'model', content: 'acme/wörter' },
    {
      name: 'file',
      filename: '../a b.wav',
      type: 'audio/wav',
      content: Buffer.from([0, 13, 10, 45, 45, 255, 1]),
    },
    { name: 'image[]', filename: '1.png', type: 'image/png', content: 'one' },
    { name: 'image[]', filename: '2.png', type: 'image/png', content: 'two' },
    { name: 'empty', content: '' },
  ]);
  const expected = [
    { name: 'model', value: 'acme/wörter' },
    { name: 'file', filename: 'a b.wav', mediaType: 'audio/wav', content: '\0\r\n--\xff\x01' },
    { name: 'image[]', filename: '1.png', mediaType: 'image/png', content: 'one' },
    { name: 'image[]', filename: '2.png', mediaType: 'image/png', content: 'two' },
    { name: 'empty', value: '' },
  ];
  t.same(await read([bytes], { ...rules, required: ['model', 'file'] }), expected);
  for (let at = 1; at < bytes.length; at += 3)
    t.same(await read([bytes.subarray(0, at), bytes.subarray(at)]), expected, `split at ${at}`);
  t.same(await read([...bytes].map((byte) => Buffer.from([byte]))), expected, 'byte by byte');
});

t.test('invalid forms', async (t) => {
  const field = { name: 'a', content: 'x' };
  const file = { name: 'f', filename: 'f.bin', type: 'application/octet-stream' };
  const refused = async (status: number, message: string, pieces: Buffer[], use = rules, type = formType) => {
    await t.rejects(
      read(pieces, use, type),
      new ApiError(status === 413 ? 'payload_too_large' : 'invalid_request', message),
      message,
    );
  };
  await refused(
    400,
    'content-type must be multipart/form-data, not "application/json"',
    [],
    rules,
    'application/json',
  );
  const noBoundary = 'content-type multipart/form-data must name a boundary of 1 to 70 characters';
  await refused(400, noBoundary, [form([field])], rules, 'multipart/form-data');
  await refused(400, noBoundary, [form([field])], rules, `multipart/form-data; boundary=${'x'.repeat(71)}`);
  await refused(400, noBoundary, [form([field])], rules, 'multipart/form-data; boundary=');
  await refused(400, 'a is given more than once', [form([field, field])]);
  await refused(400, 'f is given more than once', [
    form([
      { ...file, content: 'x' },
      { ...file, content: 'y' },
    ]),
  ]);
  await refused(400, 'b is required', [form([field])], { ...rules, required: ['a', 'b'] });
  await refused(400, 'A part of the form has no name', [form([{ content: 'x' }])]);
  await refused(400, 'a is not valid UTF-8', [form([{ name: 'a', content: Buffer.from([0xc3, 0x28]) }])]);
  await refused(413, 'a is larger than the limit of 100 bytes', [
    form([{ name: 'a', content: 'x'.repeat(101) }]),
  ]);
  await refused(413, 'f is larger than the limit of 1000 bytes', [
    form([{ ...file, content: 'x'.repeat(1001) }]),
  ]);
  await refused(400, 'The form has more than 6 parts', [
    form('abcdefg'.split('').map((name) => ({ name, content: name }))),
  ]);
  const broken = 'The form ends before its closing boundary';
  await refused(400, broken, [form([field], '')]);
  await refused(400, broken, [form([{ ...file, content: 'half' }], '').subarray(0, -4)]);
  await refused(400, broken, [Buffer.from(`--${boundary}\r\nContent-Disp`)]);
  await refused(400, broken, [Buffer.from('no form at all')]);
  await refused(400, broken, []);
  const endless = 'A part of the form has headers that do not end';
  const unended = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="z"\r\n\rX\r\n--${boundary}--\r\n`,
  );
  await refused(400, endless, [unended]);
  await refused(400, endless, [form([field], ''), unended]);
  await refused(400, endless, [form([{ ...file, content: 'x'.repeat(1000) }], ''), unended]);
  t.same(await read([form([])]), [], 'a form may be empty');
  t.equal(
    (await read([form([{ ...file, content: 'x'.repeat(1000) }])])).length,
    1,
    'a file of just the limit',
  );
});

t.test('an unread file blocks what follows, until it is discarded', async (t) => {
  const pieces = [
    form([
      { name: 'f', filename: 'f', content: 'x'.repeat(900) },
      { name: 'after', content: 'y' },
    ]),
  ];
  const parts = await lastValueFrom(
    parseMultipart(exchange({ type: formType, pieces }), rules).pipe(
      map((part) => {
        if (part.kind === 'file') part.discard();
        return part.name;
      }),
      toArray(),
    ),
  );
  t.same(parts, ['f', 'after']);
});

for (const { name, skip } of servers)
  t.test(`a large file flows through with flat memory: ${name}`, { skip }, async (t) => {
    const size = 100 * 1024 * 1024;
    let received = 0;
    /** Most that was ever on the way between the sender's own buffer and the consumer. */
    let highest = 0;
    let sent = () => 0;
    const backpressure = new Backpressure();
    const { client } = await startEdge(t, name, [
      open(
        'POST',
        '/upload',
        (exchange) =>
          parseMultipart(exchange, { maxFileBytes: size, required: ['file', 'note'] }).pipe(
            concatMap((part) => {
              if (part.kind === 'field') return of(part.value);
              return part.chunks(backpressure).pipe(
                map((chunk) => {
                  received += chunk.length;
                  highest = Math.max(highest, sent() - received);
                  // As slow as a disk: one chunk per tick.
                  backpressure.pause();
                  setImmediate(() => backpressure.resume());
                  return chunk.length;
                }),
                reduce((total, length) => total + length, 0),
              );
            }),
            toArray(),
            map((values) => jsonReply(values)),
          ),
        size + 10_000,
      ),
    ]);
    const [head = '', tail = ''] = form([
      { name: 'file', filename: 'f', type: 'application/octet-stream', content: '@' },
      { name: 'note', content: 'done' },
    ])
      .toString()
      .split('@');
    const connection = await client();
    const headers = { 'content-type': formType, 'content-length': String(head.length + size + tail.length) };
    connection.send(request('POST', '/v1/upload', { headers }));
    connection.send(head);
    sent = () => connection.socket.bytesWritten - connection.socket.writableLength;
    const block = Buffer.alloc(1024 * 1024, 'z');
    for (let at = 0; at < size; at += block.length)
      if (!connection.socket.write(block))
        await new Promise((resolve) => connection.socket.once('drain', resolve));
    connection.send(tail);
    const response = await connection.response();
    t.same(JSON.parse(response.body), [size, 'done']);
    t.equal(received, size);
    t.ok(highest < 24 * 1024 * 1024, `at most ${Math.round(highest / 1e6)} MB were on the way`);
  });
