/** Tests guarded fetch over real sockets: refused addresses, bounds and successful downloads. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { firstValueFrom } from 'rxjs';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import { guardedConnector } from '../../src/media/guarded-client.ts';
import { createGuardedFetch } from '../../src/media/guarded-fetch.ts';
import { createMedia, type MediaOptions } from '../../src/media/media.ts';
import type { MediaRule } from '../../src/ports/media.ts';

const certificate = readFileSync(new URL('../fixtures/media-tls/certificate.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('../fixtures/media-tls/key.pem', import.meta.url), 'utf8');
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
const large = Buffer.alloc(300_000, png);

let requests: string[] = [];
let closed: (() => void) | undefined;

const answer: RequestListener = (request, response) => {
  const url = new URL(request.url ?? '/', 'http://here.test');
  requests.push(`${request.method} ${request.url} ${request.headers['accept-encoding']}`);
  response.on('close', () => closed?.());
  const send = (status: number, headers: Record<string, string>, body: Buffer | string = '') =>
    response.writeHead(status, headers).end(body);
  switch (url.pathname) {
    case '/png':
      return send(200, { 'content-type': 'IMAGE/JPEG; x=y' }, png);
    case '/text':
      return send(200, { 'content-type': 'Text/CSV; charset=utf-8' }, 'a,b');
    case '/large':
      return send(200, { 'content-length': String(large.length) }, large);
    case '/chunked':
      response.writeHead(200);
      response.write(large.subarray(0, 100_001));
      return response.end(large.subarray(100_001));
    case '/empty':
      return send(200, {});
    case '/missing':
      return send(404, {}, 'secret page');
    case '/gzip':
      return send(200, { 'content-encoding': 'gzip' }, gzipSync(png));
    case '/announced':
      return response.writeHead(200, { 'content-length': '1000001' }).write('x');
    case '/endless': {
      const more = () => {
        while (!response.destroyed && response.write(large));
      };
      response.on('drain', more);
      return more();
    }
    case '/silent':
      return undefined;
    case '/stalled':
      return response.writeHead(200).write('x');
    case '/cut':
      response.writeHead(200, { 'content-length': '100' }).write('x');
      return setImmediate(() => response.destroy());
    case '/redirect':
      return send(Number(url.searchParams.get('status') ?? 302), {
        location: url.searchParams.get('to') ?? '',
      });
    case '/count': {
      const left = Number(url.searchParams.get('left'));
      return left === 0 ? send(200, {}, png) : send(307, { location: `?left=${left - 1}` });
    }
    default:
      return send(500, {});
  }
};

let connections = 0;
const track = () => {
  connections++;
};
const plain = createServer(answer).on('connection', track);
const secure = createTlsServer({ key, cert: certificate }, answer).on('connection', track);

const ports = { http: 0, https: 0 };
t.before(async () => {
  for (const [name, server] of [
    ['http', plain],
    ['https', secure],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports[name] = (server.address() as AddressInfo).port;
    server.unref();
  }
});
t.beforeEach(() => {
  requests = [];
  connections = 0;
});

type Lookup = NonNullable<MediaOptions['lookup']>;

/** Every name has these addresses, in turn; the last ones stay. */
const resolver = (...answers: readonly (readonly string[])[]) => {
  const asked: string[] = [];
  const lookup = ((name: string, _options: unknown, callback: (...found: unknown[]) => void) => {
    asked.push(name);
    const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() => callback(null, all));
  }) as Lookup;
  return { lookup, asked };
};

const rule: MediaRule = { field: 'url', maxBytes: 1_000_000 };
const options: MediaOptions = { allowPrivate: true, ca: certificate, lookup: resolver(['127.0.0.1']).lookup };

const read = async (url: string, more: Partial<MediaOptions> = {}): Promise<string> => {
  const media = createMedia({ ...options, ...more });
  try {
    const { mediaType, size, base64, bytes } = await firstValueFrom(media.read(url, rule));
    const intact = bytes.equals(size === large.length ? large : bytes.subarray(0, size));
    return `${mediaType} ${size} ${typeof base64 === 'string' ? 'string' : 'bytes'} ${intact}`;
  } catch (reason) {
    return reason instanceof ApiError ? `${reason.status} ${reason.message}` : String(reason);
  }
};
const http = (path: string): string => `http://127.0.0.1:${ports.http}${path}`;
const https = (path: string, host = 'media.test'): string => `https://${host}:${ports.https}${path}`;

t.test('media is fetched', async (t) => {
  t.equal(await read(http('/png')), 'image/png 16 string true');
  t.equal(await read(http('/text')), 'text/csv 3 string true');
  t.equal(await read(http('/large')), 'image/png 300000 bytes true');
  t.equal(await read(http('/chunked')), 'image/png 300000 bytes true');
  t.equal(await read(https('/png')), 'image/png 16 string true');
  t.equal(await read(https('/png', '127.0.0.1')), 'image/png 16 string true');
  t.equal(requests[0], 'GET /png identity');
});

t.test('a server with the wrong certificate', async (t) => {
  t.equal(await read(https('/png', 'third.test')), '400 url could not be fetched');
  const media = createMedia({ allowPrivate: true, lookup: options.lookup as Lookup });
  await t.rejects(firstValueFrom(media.read(https('/png'), rule)), { message: 'url could not be fetched' });
  t.same(requests, []);
});

t.test('private addresses are not connected to', async (t) => {
  const noPublic = '400 url could not be fetched: its host has no public address';
  const strict = (...answers: string[][]) => ({ allowPrivate: false, lookup: resolver(...answers).lookup });
  t.equal(await read(https('/png', '127.0.0.1'), strict()), '400 url must be an https URL on a public host');
  t.equal(await read(https('/png', 'localhost'), strict()), '400 url must be an https URL on a public host');
  t.equal(await read(http('/png'), strict()), '400 url must be an https URL on a public host');
  for (const address of [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    '0.0.0.0',
  ]) {
    t.equal(await read(https('/png'), strict([address])), noPublic, address);
  }
  t.equal(await read(https('/png'), strict(['8.8.8.8', '127.0.0.1'])), noPublic, 'one of several');
  t.equal(await read(https('/png'), strict([])), noPublic, 'none');
  const failing = ((_name: string, _options: unknown, callback: (error: Error) => void) => {
    callback(Object.assign(new Error('getaddrinfo ENOTFOUND inner.corp'), { code: 'ENOTFOUND' }));
  }) as Lookup;
  t.equal(await read(https('/png'), { allowPrivate: false, lookup: failing }), noPublic, 'unknown');
  t.equal(
    await read(`http://media.test:${ports.http}/png`, { lookup: resolver(['8.8.8.8']).lookup }),
    noPublic,
    'http to a public address',
  );
  t.equal(connections, 0);
});

t.test('a name is resolved once per connection, so DNS rebinding has no effect', async (t) => {
  const rebinding = resolver(['127.0.0.1'], ['8.8.8.8']);
  t.equal(await read(https('/png'), { lookup: rebinding.lookup }), 'image/png 16 string true');
  t.same(rebinding.asked, ['media.test']);
});

t.test('the address of the connected socket is checked too', async (t) => {
  const connect = guardedConnector({ allowPrivate: false, ca: certificate }, 1000);
  const target = { hostname: '127.0.0.1', host: 'media.test', protocol: 'https:', port: String(ports.https) };
  const error = await new Promise((resolve) => connect(target, (...[reason]) => resolve(reason)));
  t.match(error, { message: 'The connected address is not allowed' });
  t.same(requests, []);
});

t.test('redirects', async (t) => {
  const to = (address: string, status = 302) =>
    `/redirect?status=${status}&to=${encodeURIComponent(address)}`;
  for (const status of [301, 302, 303, 307, 308]) {
    t.equal(await read(http(to('/png', status))), 'image/png 16 string true', String(status));
  }
  t.equal(await read(http(to(https('/png')))), 'image/png 16 string true', 'to another host');
  t.equal(await read(http('/count?left=3')), 'image/png 16 string true');
  t.equal(await read(http('/count?left=4')), '400 url is redirected too often');
  t.equal(await read(http(to('http://8.8.8.8/'))), '400 url must be an https URL');
  t.equal(await read(http(to('https://169.254.169.254/'))), '400 url must be an https URL');
  t.equal(await read(http(to('https://a:b@media.test/'))), '400 url must not hold a user name or password');
  t.equal(await read(http(to('file:///etc/passwd'))), '400 url must be an https URL');
  t.equal(await read(http(to('http://[')), {}), '400 url must be an https URL');
  t.equal(await read(http(to(''))), '400 url is redirected too often', 'to itself');
  t.equal(
    await read(http('/redirect?status=304')),
    '400 url could not be fetched: it answers with status 304',
  );

  const lookup = resolver(['127.0.0.1'], ['8.8.8.8']).lookup;
  const inward = https(to(`http://other.test:${ports.http}/png`));
  t.equal(await read(inward, { lookup }), '400 url could not be fetched: its host has no public address');
});

t.test('responses that are not media', async (t) => {
  t.equal(await read(http('/missing')), '400 url could not be fetched: it answers with status 404');
  t.equal(await read(http('/gzip')), '400 url could not be fetched: it is served compressed');
  t.equal(await read(http('/empty')), '400 url is empty');
  t.equal(await read(http('/cut')), '400 url could not be fetched');
  t.equal(await read('http://127.0.0.1:1/'), '400 url could not be fetched');
});

t.test('size and time are bounded, and the connection is closed', async (t) => {
  const over = '413 url is larger than the limit of 1000000 bytes';
  const late = '400 url could not be fetched in time';
  const cases: readonly [string, string, MediaOptions['timeouts']][] = [
    ['/announced', over, {}],
    ['/endless', over, {}],
    ['/silent', late, { firstByte: 50 }],
    ['/stalled', late, { idle: 50 }],
    ['/silent', late, { total: 50 }],
    ['/stalled', late, { total: 50 }],
  ];
  for (const [path, expected, timeouts] of cases) {
    const ended = new Promise<void>((resolve) => {
      closed = resolve;
    });
    t.equal(await read(http(path), timeouts === undefined ? {} : { timeouts }), expected, path);
    await ended;
  }
});

t.test('unsubscribing aborts', async (t) => {
  const media = createMedia(options);
  const ended = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const begun = new Promise<void>((resolve) => plain.once('request', () => resolve()));
  const subscription = media
    .read(http('/stalled'), rule)
    .subscribe({ error: () => t.fail('nobody listens') });
  await begun;
  subscription.unsubscribe();
  await ended;
  await media.close();
});

t.test('concurrency and queue are bounded', async (t) => {
  const media = createMedia({ ...options, maxFetches: 1, maxWaiting: 1 });
  const begun = new Promise<void>((resolve) => plain.once('request', () => resolve()));
  const first = media.read(http('/stalled'), rule).subscribe({ error: () => t.fail('nobody listens') });
  await begun;
  const second = firstValueFrom(media.read(http('/png'), rule));
  await t.rejects(firstValueFrom(media.read(http('/png'), rule)), { name: 'ApiError', kind: 'unavailable' });
  t.same(requests.length, 1);
  first.unsubscribe();
  t.equal((await second).size, 16);
  const third = media.read(http('/stalled'), rule).subscribe();
  const waiting = media.read(http('/png'), rule).subscribe({ error: () => t.fail('nobody listens') });
  waiting.unsubscribe();
  third.unsubscribe();
  t.equal((await firstValueFrom(media.read(http('/png'), rule))).size, 16);
});

t.test('a caller that does not follow redirects gets them, and may post', async (t) => {
  const guardedFetch = createGuardedFetch(options);
  const status = await guardedFetch(
    { url: http('/redirect?to=/png'), field: 'callback_url', maxRedirects: 0, method: 'POST', body: '{}' },
    new AbortController().signal,
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
  );
  t.equal(status, 302);
  t.same(requests, ['POST /redirect?to=/png identity']);
});
