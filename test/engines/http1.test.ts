/** Tests the HTTP/1.1 client: responses split anywhere, malformed responses and connection reuse. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import t from 'tap';
import { Pool } from 'undici';
import type { Connection, ResponseHandler } from '../../src/engines/http1/connection.ts';
import { Connections } from '../../src/engines/http1/connections.ts';
import type { OutgoingBody } from '../../src/engines/http1/outgoing-body.ts';
import {
  fixedLines,
  type Outgoing,
  outgoing,
  requestHead,
  requestStart,
} from '../../src/engines/http1/request.ts';
import type { ResponseHead } from '../../src/engines/http1/response-head.ts';
import { ResponseParser } from '../../src/engines/http1/response-parser.ts';
import { eventually } from '../eventually.ts';
import { ask, engineOn } from './collect.ts';
import { type Answer, answers, chunked, lines } from './http1-answers.ts';
import {
  type ReceivedRequest,
  type Script,
  type ScriptedEngine,
  startScriptedEngine,
} from './scripted-engine.ts';

// ── answers ──────────────────────────────────────────────────────────────────────────────────────

const bytesOf = (raw: string): Buffer => Buffer.from(raw, 'latin1');

/** As the sockets do it: each read lands in the same memory. */
const parse = (pieces: readonly Buffer[], closes: boolean) => {
  const parser = new ResponseParser();
  const memory = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)) + 16);
  const body: Buffer[] = [];
  let excess = false;
  for (const piece of pieces) {
    if (parser.complete) excess = true;
    if (parser.complete || parser.fault !== undefined) break;
    memory.fill('\n');
    piece.copy(memory);
    parser.push(memory, piece.length);
    excess ||= parser.excess;
    if (parser.body !== undefined) body.push(Buffer.from(parser.body));
  }
  const ended = parser.complete || (closes && parser.close());
  return {
    status: parser.head?.status ?? 0,
    body: Buffer.concat(body).toString('latin1'),
    fault: parser.fault,
    ended,
    excess,
    kept: ended && parser.head?.keepAlive === true && parser.head.framing !== 'close' && !excess,
  };
};

const expected = ({ status = 200, body = '', fault, cut, excess = false, kept = true }: Answer) => {
  const ended = fault === undefined && cut !== true;
  return { status, body, fault, ended, excess, kept: kept && ended };
};

const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return sorted
    .slice(1)
    .map((end, index) => bytes.subarray(sorted[index], end))
    .filter((piece) => piece.length > 0);
};

t.test('every response, split at every byte, and byte by byte', async (t) => {
  for (const answer of answers) {
    const bytes = bytesOf(answer.raw);
    const wanted = expected(answer);
    const closes = answer.closed === true || answer.cut === true;
    const wrong: unknown[] = [];
    const check = (places: readonly number[]): void => {
      const found = parse(cutAt(bytes, places), closes);
      if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push({ places, found });
    };
    for (let place = 0; place < bytes.length; place++) check([place]);
    check(Array.from(bytes.keys()));
    t.strictSame(wrong, [], answer.name);
    t.strictSame(parse([bytes], closes), wanted, `${answer.name}: whole`);
  }
});

t.test('any body in any chunks, split anywhere, is read unchanged', async (t) => {
  const chunk = fc.record({
    data: fc.uint8Array({ minLength: 1, maxLength: 60 }),
    extension: fc.constantFrom('', ';a', ';a=b', ' ; q="x y"', '  '),
    padding: fc.constantFrom('', '0', '000'),
  });
  fc.assert(
    fc.property(
      fc.array(chunk, { maxLength: 8 }),
      fc.constantFrom('', 'x: y\r\n'),
      fc.array(fc.nat(700), { maxLength: 30 }),
      (chunks, trailer, places) => {
        const framed = chunks.flatMap(({ data, extension, padding }) => [
          bytesOf(`${padding}${data.length.toString(16)}${extension}\r\n`),
          Buffer.from(data),
          bytesOf('\r\n'),
        ]);
        const bytes = Buffer.concat([bytesOf(chunked), ...framed, bytesOf(`0\r\n${trailer}\r\n`)]);
        const inside = places.filter((place) => place < bytes.length);
        const body = Buffer.concat(chunks.map(({ data }) => data)).toString('latin1');
        t.strictSame(parse(cutAt(bytes, inside), false), {
          status: 200,
          body,
          fault: undefined,
          ended: true,
          excess: false,
          kept: true,
        });
      },
    ),
    { numRuns: 200 },
  );
});

t.test('any bytes are handled', async () => {
  const start = fc.constantFrom('', 'HTTP/1.1 200 OK\r\n', chunked, `${chunked}5\r\n`);
  const word = fc.constantFrom(
    '\r\n',
    '\n',
    '0',
    'a',
    ':',
    ' ',
    ';',
    'content-length',
    '\0',
    'HTTP/1.1 ',
    '200',
  );
  fc.assert(
    fc.property(start, fc.array(word, { maxLength: 40 }), fc.array(fc.nat(200)), (head, words, places) => {
      const bytes = bytesOf(head + words.join(''));
      const whole = parse([bytes], true);
      const split = parse(
        cutAt(
          bytes,
          places.filter((place) => place < bytes.length),
        ),
        true,
      );
      return JSON.stringify(whole) === JSON.stringify(split);
    }),
    { numRuns: 500 },
  );
});

t.test('heads, trailers and extensions are bounded, however slowly they arrive', async (t) => {
  const long = 'x'.repeat(70_000);
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'a long status line': [`HTTP/1.1 200 ${long}`, 'too long a head'],
    'a long header': [`HTTP/1.1 200 OK\r\nx: ${long}`, 'too long a head'],
    'many headers': [`HTTP/1.1 200 OK\r\n${lines(300)}`, 'too long a head'],
    'long headers': [`HTTP/1.1 200 OK\r\n${lines(70, `a: ${'b'.repeat(1000)}\r\n`)}`, 'too long a head'],
    'interim answers without end': [lines(200, 'HTTP/1.1 102 X\r\n\r\n'), 'too long a head'],
    'many trailers': [`${chunked}0\r\n${lines(300)}`, 'too long a head'],
    'a long extension': [`${chunked}5;${long}`, 'a broken chunk'],
    'blanks after a size': [`${chunked}5${' '.repeat(70_000)}`, 'a broken chunk'],
    'noughts before a size': [`${chunked}${'0'.repeat(70_000)}`, 'a broken chunk'],
  };
  for (const [name, [raw, fault]] of Object.entries(cases)) {
    const bytes = bytesOf(raw);
    t.equal(parse([bytes], false).fault, fault, name);
    t.equal(parse(cutAt(bytes, Array.from(bytes.keys())), false).fault, fault, `${name}: byte by byte`);
  }
  const fair = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(60_000)}\r\ncontent-length: 0\r\n\r\n`;
  t.equal(parse(cutAt(bytesOf(fair), Array.from(bytesOf(fair).keys())), false).ended, true, 'a fair head');
});

t.test('the headers that are read', async (t) => {
  const parser = new ResponseParser();
  const bytes = bytesOf(
    'HTTP/1.1 503 X\r\nContent-Type:  text/plain; charset=utf-8 \r\nRetry-After: 7\r\nretry-after: 9\r\nKeep-Alive: max=5, timeout=12\r\ncontent-length: 0\r\n\r\n',
  );
  parser.push(bytes, bytes.length);
  t.match(parser.head, {
    status: 503,
    contentType: 'text/plain; charset=utf-8',
    retryAfter: '7',
    keepSeconds: 12,
  });
});

// ── requests ─────────────────────────────────────────────────────────────────────────────────────

t.test('content-length counts bytes, whatever the text', async (t) => {
  for (const value of ['plain', 'caf\xe9'])
    for (const body of ['', '{"a":"b"}', '{"a":"caf\xe9"}', '{"a":"水"}', '{"a":"🚰"}', 'a'.repeat(20_000)]) {
      const { text, encoding, upload } = outgoing(`x-a: ${value}\r\n`, 'id', 'x-b: c\r\n', body);
      const bytes = typeof text === 'string' ? Buffer.from(text, encoding) : text;
      const head = `x-a: ${value}\r\nx-request-id: id\r\nx-b: c\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
      t.ok(bytes.equals(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])), `${value} ${body}`);
      t.equal(upload, undefined);
    }
  t.match(outgoing('', undefined, undefined, null), { text: 'content-length: 0\r\n\r\n', upload: undefined });
  t.match(outgoing('', undefined, undefined, undefined), { text: '\r\n', upload: undefined });
});

t.test('request fields cannot inject header lines', async (t) => {
  const head =
    (path: string, ...headers: string[]) =>
    () =>
      requestHead(requestStart({ method: 'POST', path, headers }, fixedLines('a:1')), undefined, 0);
  t.equal(
    head('/v1/x?y=%20', 'x-a', 'b c', 'x-b', '')(),
    'POST /v1/x?y=%20 HTTP/1.1\r\nhost: a:1\r\nconnection: keep-alive\r\nx-a: b c\r\nx-b: \r\ncontent-length: 0\r\n\r\n',
  );
  t.throws(() => requestHead('', 'a\r\nb: c', 0), { message: 'The id of the request cannot be sent' });
  for (const path of ['', 'x', '/a b', '/a\r\nb: c', '/\n', '/\0', '/é']) {
    t.throws(head(path), { message: 'The path of the request cannot be sent' }, JSON.stringify(path));
  }
  for (const name of ['', 'a b', 'a:', 'a\r\n', 'é', 'a\0']) {
    t.throws(head('/', name, 'v'), { message: 'The name of a header cannot be sent' }, JSON.stringify(name));
  }
  for (const value of ['a\r\nb: c', 'a\n', '\r', 'a\0', '水', '\x7f']) {
    t.throws(
      head('/', 'n', value),
      { message: 'The value of the header n cannot be sent' },
      JSON.stringify(value),
    );
  }
  const engine = await startScriptedEngine((received) => received.answer());
  const subject = engineOn([engine.url], { headers: { 'x-team': 'a\r\nx-admin: 1' } });
  t.strictSame((await ask(subject)).error, ['engine_unreachable', 'The engine could not be reached']);
  t.equal(engine.connections, 0);
  await engine.close();
  await subject.close();
});

// ── connections ──────────────────────────────────────────────────────────────────────────────────

/** One exchange, as it was heard. */
class Heard implements ResponseHandler {
  status = 0;
  contentType = '';
  readonly reads: Buffer[] = [];
  /** Of reads, also those that brought nothing of the body. */
  count = 0;
  error: Error | undefined;
  stale = false;
  wasSent = false;
  complete = false;
  goOn = true;
  /** Settles with the end, good or bad. */
  readonly ended: Promise<void>;
  connection: Connection | undefined;
  #settle: () => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get body(): string {
    return Buffer.concat(this.reads).toString('latin1');
  }

  sent(): void {
    this.wasSent = true;
  }

  head({ status, contentType }: ResponseHead): void {
    this.status = status;
    this.contentType = contentType;
  }

  read(bytes: Buffer | undefined, complete: boolean): boolean {
    this.count++;
    if (bytes !== undefined) this.reads.push(Buffer.from(bytes));
    this.complete = complete;
    if (complete) this.#settle();
    return this.goOn;
  }

  failed(error: Error, stale: boolean): void {
    this.error = error;
    this.stale = stale;
    this.#settle();
  }
}

const options = { connectLimit: 5000, ca: undefined };
const request = (body: OutgoingBody | null = null): Outgoing =>
  outgoing(
    requestStart({ method: 'POST', path: '/', headers: [] }, fixedLines('test')),
    undefined,
    undefined,
    body,
  );

const start = (connections: Connections, asked = request()): Heard => {
  const heard = new Heard();
  heard.connection = connections.send(asked, heard);
  return heard;
};

const fetchOn = async (connections: Connections, asked = request()): Promise<Heard> => {
  const heard = start(connections, asked);
  await heard.ended;
  return heard;
};

const withEngine = async (
  script: Script,
  use: (connections: Connections, engine: ScriptedEngine) => Promise<void>,
): Promise<void> => {
  const engine = await startScriptedEngine(script);
  const connections = new Connections(new URL(engine.url), options);
  try {
    await use(connections, engine);
    await connections.close();
  } finally {
    await engine.close();
  }
};

const ok: Script = (received) =>
  received.raw(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${received.number}`);

/** What undici makes of the same bytes. */
const throughUndici = (pool: Pool): Promise<object> =>
  new Promise((resolve) => {
    const body: Buffer[] = [];
    let status = 0;
    let contentType = '';
    pool.dispatch(
      { method: 'POST', path: '/' },
      {
        onConnect: () => undefined,
        onHeaders: (code, headers) => {
          if (code < 200) return true;
          status = code;
          const index = headers.findIndex((name) => name.toString().toLowerCase() === 'content-type');
          contentType = index < 0 ? '' : (headers[index + 1]?.toString('latin1') ?? '');
          return true;
        },
        onData: (bytes) => {
          body.push(Buffer.from(bytes));
          return true;
        },
        onComplete: () =>
          resolve({ good: true, status, contentType, body: Buffer.concat(body).toString('latin1') }),
        onError: () => resolve({ good: false }),
      },
    );
  });

t.test('undici reads the same response from the same bytes', async (t) => {
  for (const answer of answers.filter(({ ours }) => ours !== true)) {
    const script: Script = (received) => {
      // Not every fault is one to undici, which would then wait for more.
      const closes = answer.closed ?? answer.cut ?? answer.fault !== undefined;
      const bytes = bytesOf(
        answer.raw.replace(/^(HTTP\S+ [2-5]..*?\r\n)/, '$1content-type: text/x; a=b\r\n'),
      );
      if (closes) received.socket.end(bytes);
      else received.raw(bytes);
    };
    await withEngine(script, async (connections, engine) => {
      const { error, status, contentType, body } = await fetchOn(connections);
      const pool = new Pool(new URL(engine.url).origin, { headersTimeout: 0, bodyTimeout: 0 });
      const ours = error === undefined ? { good: true, status, contentType, body } : { good: false };
      t.strictSame(ours, await throughUndici(pool), answer.name);
      t.equal(error === undefined, expected(answer).ended);
      await pool.destroy();
    });
  }
});

t.test('connections are reused, most recent first, by one request at a time', async (t) => {
  await withEngine(ok, async (connections, engine) => {
    const [first, second] = await Promise.all([fetchOn(connections), fetchOn(connections)]);
    t.strictSame([first.body, second.body].sort(), ['0', '1']);
    t.equal(engine.connections, 2);
    const third = await fetchOn(connections);
    const fourth = await fetchOn(connections);
    t.equal(third.connection, fourth.connection);
    t.equal(engine.connections, 2);
    // From within the end of one exchange, too.
    const nested = new Heard();
    const outer = new Heard();
    outer.read = () => {
      nested.connection = connections.send(request(), nested);
      return true;
    };
    outer.connection = connections.send(request(), outer);
    await nested.ended;
    t.equal(nested.connection, outer.connection);
    t.equal(engine.connections, 2);
  });
});

t.test('responses that end a connection are complete, and the next request opens a new one', async (t) => {
  const endings: Readonly<Record<string, Script>> = {
    'connection: close': (received) =>
      received.raw('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'),
    'no time to live': (received) =>
      received.raw('HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok'),
    'HTTP/1.0': (received) => received.raw('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    'closed by the end': (received) => void received.socket.end('HTTP/1.1 200 OK\r\n\r\nok'),
    'closed after the end': (received) =>
      void received.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    'garbage after it': (received) =>
      received.raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n'),
  };
  for (const [name, script] of Object.entries(endings)) {
    await withEngine(script, async (connections, engine) => {
      for (const round of [1, 2]) {
        const { body, error } = await fetchOn(connections);
        t.strictSame({ body, error }, { body: 'ok', error: undefined }, name);
        await (await engine.request(round - 1)).gone;
        t.equal(engine.connections, round, name);
      }
    });
  }
});

t.test('unsolicited bytes close an idle connection', async (t) => {
  await withEngine(ok, async (connections, engine) => {
    await fetchOn(connections);
    const received = await engine.request(0);
    received.raw('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
    await received.gone;
    t.equal((await fetchOn(connections)).body, '1');
    t.equal(engine.connections, 2);
  });
});

t.test('an idle connection is closed before the server closes it', async (t) => {
  await withEngine(
    (received) => received.raw('HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n'),
    async (connections, engine) => {
      await fetchOn(connections);
      let ended = false;
      const received = await engine.request(0);
      received.socket.once('end', () => {
        ended = true;
      });
      await received.gone;
      t.ok(ended, 'by our side');
    },
  );
});

t.test('a connection lost at the worst moment', async (t) => {
  const losses: Readonly<Record<string, (received: ReceivedRequest) => void>> = {
    'closed with the request on its way': (received) => void received.socket.end(),
    'reset with the request on its way': (received) => received.reset(),
    'closed within the head': (received) => void received.socket.end('H'),
    'closed after an interim answer': (received) => void received.socket.end('HTTP/1.1 100 Continue\r\n\r\n'),
  };
  for (const [name, lose] of Object.entries(losses)) {
    const untouched = name.endsWith('on its way');
    await withEngine(
      (received) => (received.number === 1 ? lose(received) : ok(received)),
      async (connections, engine) => {
        t.equal((await fetchOn(connections)).body, '0');
        const lost = await fetchOn(connections);
        t.ok(lost.error, name);
        t.equal(lost.stale, untouched, `${name}: stale`);
        t.equal(engine.connections, 1);
        t.equal((await fetchOn(connections)).body, '2', `${name}: the next one`);
      },
    );
    await withEngine(lose, async (connections) => {
      const lost = await fetchOn(connections);
      t.ok(lost.error, name);
      t.equal(lost.stale, false, `${name}: never on a new connection`);
    });
  }
});

t.test('the server closes while the next request is being written', async (t) => {
  await withEngine(ok, async (connections, engine) => {
    await fetchOn(connections);
    const received = await engine.request(0);
    received.reset();
    // Sent before this side can have heard of it.
    const lost = await fetchOn(connections);
    t.ok(lost.error);
    t.equal(lost.stale, true);
    t.equal((await fetchOn(connections)).body, '1');
  });
});

t.test('aborted in every phase', async (t) => {
  const heads = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n';
  const phases: Readonly<Record<string, readonly [string, (heard: Heard) => boolean]>> = {
    waiting: ['', () => true],
    'within the head': [heads, () => true],
    'after the head': [`${heads}\r\n`, (heard) => heard.status === 200],
    'within the body': [`${heads}\r\nHel`, (heard) => heard.reads.length > 0],
  };
  for (const [name, [raw, reached]] of Object.entries(phases)) {
    await withEngine(
      (received) => received.raw(raw),
      async (connections, engine) => {
        const heard = start(connections);
        const received = await engine.request(0);
        await eventually(() => reached(heard) && received.socket.writableLength === 0);
        heard.connection?.drop();
        heard.connection?.drop();
        await received.gone;
        t.strictSame([heard.error, heard.complete], [undefined, false], name);
      },
    );
  }
  await withEngine(ok, async (connections, engine) => {
    const early = start(connections);
    early.connection?.drop();
    t.equal((await fetchOn(connections)).body, '0', 'before it was sent: the engine never saw it');
    t.equal(early.wasSent, false);
    t.equal(engine.requests.length, 1);
  });
  await withEngine(
    (received) => received.raw(`${heads}\r\nHel`),
    async (connections, engine) => {
      const within = new Heard();
      within.read = () => {
        within.connection?.drop();
        return true;
      };
      within.connection = connections.send(request(), within);
      await (await engine.request(0)).gone;
      t.equal(within.error, undefined, 'from within a read');
    },
  );
});

t.test('an early response is returned, its connection is not reused', async (t) => {
  const pieces = (size: number) => ['{"a":"', 'A'.repeat(size), '"}'];
  const engine = await startScriptedEngine(ok);
  const connections = new Connections(new URL(engine.url), options);
  const hasty = await startHasty();
  const early = new Connections(new URL(hasty.url), options);
  const { status, body, error } = await fetchOn(early, request(pieces(20_000_000)));
  t.strictSame({ status, body, error }, { status: 413, body: 'no', error: undefined });
  await hasty.gone;
  await early.close();
  hasty.close();
  const whole = await fetchOn(connections, request(pieces(600_000)));
  t.equal(whole.body, '0');
  t.equal((await engine.request(0)).body, pieces(600_000).join(''));
  t.equal(
    (await fetchOn(connections, request('Grüße'))).body,
    '1',
    'after all was sent the connection is free',
  );
  t.equal((await engine.request(1)).body, 'Grüße');
  t.equal(engine.connections, 1);
  await connections.close();
  await engine.close();
});

/** Answers on the first bytes, before it reads on. */
const startHasty = async () => {
  let settle: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('close', settle);
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 X\r\ncontent-length: 2\r\n\r\nno', () =>
        setImmediate(() => socket.resume()),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gone,
    close: () => server.close(),
  };
};

t.test('a slow head times out', async (t) => {
  const engine = await startScriptedEngine(async (received) => {
    received.raw('HTTP/1.1 200 OK\r\n');
    while (!received.socket.destroyed) {
      received.raw('x: y\r\n');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  const subject = engineOn([engine.url], { timeouts: { first_byte: '80ms' } });
  t.strictSame((await ask(subject)).error, ['timeout', 'The engine did not answer in time']);
  await (await engine.request(0)).gone;
  await engine.close();
  await subject.close();
});

t.test('closing: running requests may end, no new ones start', async (t) => {
  const engine = await startScriptedEngine(() => undefined);
  const connections = new Connections(new URL(engine.url), options);
  const running = start(connections);
  const received = await engine.request(0);
  let closed = false;
  const closing = connections.close().then(() => {
    closed = true;
  });
  const late = await fetchOn(connections);
  t.match(late.error, { code: 'CLOSED' });
  t.equal(closed, false);
  ok(received);
  await running.ended;
  t.equal(running.body, '0');
  await closing;
  await connections.close();
  await received.gone;
  await engine.close();
});

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

t.test('TLS: SNI, ALPN of HTTP/1.1, backpressure and connection reuse', async (t) => {
  const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
  const size = 512 * 1024;
  const sockets: TLSSocket[] = [];
  const server = createTlsServer(
    { key: pem('key'), cert: pem('certificate'), ALPNProtocols: ['h2', 'http/1.1'] },
    (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
        socket.write(Buffer.alloc(size, 'x'));
      });
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ca = pem('certificate').toString();
  const named = new Connections(new URL(`https://localhost:${port}`), { connectLimit: 5000, ca });
  for (let round = 0; round < 3; round++) {
    const heard = new Heard();
    heard.goOn = false;
    heard.connection = named.send(request(), heard);
    // Stopped after every read, up to the very last; the connection must not stay so.
    let readAfterStop = 0;
    while (!heard.complete && heard.error === undefined) {
      const before = heard.count;
      await turns(1);
      if (heard.count === before) continue;
      const ahead = heard.count;
      await turns(3);
      readAfterStop += heard.count - ahead;
      heard.connection?.resume();
    }
    t.strictSame([heard.error, heard.body.length, readAfterStop], [undefined, size, 0]);
  }
  t.strictSame(
    sockets.map(({ servername, alpnProtocol }) => ({ servername, alpnProtocol })),
    [{ servername: 'localhost', alpnProtocol: 'http/1.1' }],
  );
  await named.close();
  const bare = new Connections(new URL(`https://127.0.0.1:${port}`), { connectLimit: 5000, ca });
  t.equal((await fetchOn(bare)).body.length, size, 'an address instead of a name');
  await bare.close();
  const wary = new Connections(new URL(`https://localhost:${port}`), options);
  t.match((await fetchOn(wary)).error, { code: /CERT|SELF_SIGNED/ });
  await wary.close();
  server.close();
});
