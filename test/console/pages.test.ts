/** Tests the pages at the socket of both ports: which paths are pages, their headers, encodings and entity tags. */
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { servers } from '../http/servers.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Unlike `fetch` it adds no header and decodes nothing. */
const send = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  path = new URL(url).pathname,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, path, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const files = JSON.parse(
  readFileSync(new URL('../../dist/console/files.json', import.meta.url), 'utf8'),
) as Record<string, { readonly hash: string }>;
const built = (name: string): Buffer => readFileSync(new URL(`../../dist/console/${name}`, import.meta.url));
const script = Object.keys(files).find((name) => /^assets\/public-.*\.js$/.test(name)) ?? '';

const policy = (origin: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' data: blob: ${origin}`,
    `media-src 'self' data: blob: ${origin}`,
    `connect-src 'self' ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

const notFound = (method: string, path: string) => ({
  error: {
    code: 404,
    message: `No route for ${method} ${path}`,
    type: 'not_found_error',
    param: null,
    metadata: { error_type: 'not_found' },
  },
});

for (const { name, skip } of servers)
  t.test(`pages of the public port on ${name}`, { skip }, async (t) => {
    const gateway = await startGateway({ env: { SLUICE_EDGE: name } });
    t.teardown(() => gateway.stop());
    const { root } = gateway;

    const page = await send(`${root}/`, html);
    t.equal(page.status, 200);
    t.match(page.headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(built('public.html').length),
      'content-encoding': undefined,
      'cache-control': 'no-cache',
      etag: `"${files['public.html']?.hash}"`,
      vary: 'accept, accept-encoding',
      'content-security-policy': policy(root),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-request-id': /^req_/,
    });
    t.strictSame(page.body, built('public.html'));

    const head = await send(`${root}/`, html, 'HEAD');
    t.equal(head.status, 200);
    t.equal(head.headers['content-length'], page.headers['content-length']);
    t.equal(head.headers.etag, page.headers.etag);
    t.equal(head.body.length, 0);

    for (const [method, path, headers] of [
      ['GET', '/', {}],
      ['GET', '/', { accept: '*/*' }],
      ['GET', '/', { accept: 'application/json' }],
      ['POST', '/', html],
      ['OPTIONS', '/', html],
      ['DELETE', '/reference', html],
      ['GET', '/index.html', html],
      ['GET', '/v1', html],
      ['GET', '/assets', html],
      ['GET', '/assets/none.js', html],
      ['GET', '/assets/..%2f..%2fpackage.json', html],
      ['GET', '/assets/../files.json', html],
      ['GET', '/console.html', html],
    ] as const) {
      const answer = await send(root, headers, method, path);
      t.equal(answer.status, 404, `${method} ${path}`);
      t.strictSame(JSON.parse(answer.body.toString()), notFound(method, path));
    }

    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['*', 'br'],
      ['br;q=0.0, *;q=0', undefined],
      ['deflate', undefined],
    ] as const) {
      const answer = await send(`${root}/${script}`, { 'accept-encoding': accepted });
      t.equal(answer.status, 200, accepted);
      t.equal(answer.headers['content-encoding'], encoding, accepted);
      const decode = { br: brotliDecompressSync, gzip: gunzipSync };
      t.strictSame(encoding === undefined ? answer.body : decode[encoding](answer.body), built(script));
      const etag = `"${files[script]?.hash}${encoding === undefined ? '' : `-${encoding}`}"`;
      t.match(answer.headers, {
        etag,
        vary: 'accept-encoding',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await send(`${root}/${script}`, {
          'accept-encoding': accepted,
          'if-none-match': known,
        });
        t.equal(again.status, 304, known);
        t.equal(again.headers.etag, etag);
        t.equal(again.body.length, 0);
      }
    }
    t.equal((await send(`${root}/${script}`, { 'if-none-match': '"other"' })).status, 200);

    const icon = await send(`${root}/favicon.ico`);
    t.equal(icon.headers['content-type'], 'image/svg+xml');
    t.strictSame(icon.body, built('favicon.svg'));
    const robots = await send(`${root}/robots.txt`);
    t.equal(robots.headers['content-type'], 'text/plain; charset=utf-8');
    t.match(robots.body.toString(), 'Disallow: /v1/');

    const reference = await send(`${root}/reference?x=1`);
    t.equal(reference.status, 200);
    t.match(reference.headers['content-security-policy'], /^default-src 'none'; script-src 'self';/);
    for (const [path, location] of [
      ['/docs', 'reference'],
      ['/docs/', '../docs'],
      ['/reference/', '../reference'],
    ] as const) {
      const answer = await send(root, html, 'GET', path);
      t.equal(answer.status, 302, path);
      t.equal(answer.headers.location, location);
    }
  });

t.test("the console on the operator's port", async (t) => {
  const gateway = await startGateway({ env: { SLUICE_ADMIN_PORT: '0', SLUICE_ADMIN_TOKEN: 'x'.repeat(16) } });
  t.teardown(() => gateway.stop());
  const admin = String(gateway.adminUrl);
  const page = await send(`${admin}/`, html);
  t.equal(page.status, 200);
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(built('console.html').length),
    'cache-control': 'no-cache',
    'content-security-policy': policy(gateway.root),
    'x-content-type-options': 'nosniff',
  });
  t.strictSame(page.body, built('console.html'));

  const { port } = new URL(gateway.root);
  const named = await send(`${admin}/`, { ...html, host: `gateway.example:${new URL(admin).port}` });
  t.match(
    named.headers['content-security-policy'],
    `connect-src 'self' ${gateway.root} http://gateway.example:${port};`,
    'the public port under the same name',
  );
  const forged = await send(`${admin}/`, { ...html, host: "x; script-src 'unsafe-inline'" });
  t.equal(forged.headers['content-security-policy'], policy(gateway.root), 'a host that is none is left out');

  const head = await send(`${admin}/`, html, 'HEAD');
  t.equal(head.headers['content-length'], page.headers['content-length']);
  t.equal(head.body.length, 0);
  const again = await send(`${admin}/`, { ...html, 'if-none-match': String(page.headers.etag) });
  t.equal(again.status, 304);
  t.equal(again.headers['content-length'], undefined);
  const asset = await send(`${admin}/${script}`, { 'accept-encoding': 'br' });
  t.equal(asset.headers['content-encoding'], 'br');
  t.strictSame(brotliDecompressSync(asset.body), built(script));
  t.equal((await send(`${admin}/favicon.ico`)).headers['content-type'], 'image/svg+xml');

  for (const [method, path, headers] of [
    ['GET', '/', {}],
    ['POST', '/', html],
    ['GET', '/assets/../files.json', html],
    ['GET', '/public.html', html],
  ] as const) {
    const answer = await send(admin, headers, method, path);
    t.equal(answer.status, 404, `${method} ${path}`);
    t.equal(answer.body.toString(), 'Here are /metrics, /livez, /readyz, to GET.\n');
  }
});

t.test('SLUICE_CONSOLE=off: no pages on either port', async (t) => {
  const gateway = await startGateway({ env: { SLUICE_ADMIN_PORT: '0', SLUICE_CONSOLE: 'off' } });
  t.teardown(() => gateway.stop());
  for (const path of ['/', '/reference', '/docs', '/favicon.ico', '/robots.txt', `/${script}`]) {
    const answer = await send(gateway.root, html, 'GET', path);
    t.equal(answer.status, 404, path);
    t.strictSame(JSON.parse(answer.body.toString()), notFound('GET', path));
    t.equal((await send(String(gateway.adminUrl), html, 'GET', path)).status, 404, `${path} of the console`);
  }
  await t.rejects(startGateway({ env: { SLUICE_CONSOLE: 'no' } }), {
    message: 'SLUICE_CONSOLE must be one of on, off, not "no"',
  });
});
