/** Tests signed links to files: access, expiry, ranges and methods. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { readByteRange } from '../../pipelines/jobs/send-blob.ts';
import { startGateway } from '../gateway.ts';

t.test('ranges of a file', async (t) => {
  const cases: readonly [string, number, ReturnType<typeof readByteRange>][] = [
    ['', 10, 'all'],
    ['bytes=0-', 10, { start: 0, end: 10 }],
    ['bytes=0-0', 10, { start: 0, end: 1 }],
    ['bytes=3-5', 10, { start: 3, end: 6 }],
    ['bytes=3-500', 10, { start: 3, end: 10 }],
    ['bytes=9-', 10, { start: 9, end: 10 }],
    ['bytes=-3', 10, { start: 7, end: 10 }],
    ['bytes=-30', 10, { start: 0, end: 10 }],
    ['bytes=10-', 10, 'none'],
    ['bytes=10-12', 10, 'none'],
    ['bytes=-0', 10, 'none'],
    ['bytes=0-', 0, 'none'],
    ['bytes=-5', 0, 'none'],
    ['bytes=5-3', 10, 'all'],
    ['bytes=-', 10, 'all'],
    ['bytes=0-1,3-4', 10, 'all'],
    ['lines=0-1', 10, 'all'],
    ['bytes=a-b', 10, 'all'],
    ['bytes=99999999999999999-', 10, 'all'],
  ];
  for (const [header, size, expected] of cases)
    t.strictSame(readByteRange(header, size), expected, `${header} of ${size}`);
});

t.test('a link', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const { blobs } = gateway.ports;
  const bytes = randomBytes(300_000);
  const name = 'images/img_1.png';
  await blobs.put(name, bytes, { mediaType: 'image/png' });
  const link = await blobs.link(name, 3600);

  t.test('is absolute and gives the file without a key', async (t) => {
    t.match(link, new RegExp(`^${gateway.url}/blobs/${name}\\?expires=\\d+&signature=[\\w-]{43}$`));
    const response = await fetch(link);
    t.equal(response.status, 200);
    t.match(Object.fromEntries(response.headers), {
      'content-type': 'image/png',
      'content-length': '300000',
      'accept-ranges': 'bytes',
      'cache-control': /^private, max-age=3[56]\d\d$/,
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    });
    t.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
  });

  t.test('gives a range, or 416', async (t) => {
    const part = await fetch(link, { headers: { range: 'bytes=1000-1999' } });
    t.equal(part.status, 206);
    t.equal(part.headers.get('content-range'), 'bytes 1000-1999/300000');
    t.equal(part.headers.get('content-length'), '1000');
    t.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000)));
    const none = await fetch(link, { headers: { range: 'bytes=300000-' } });
    t.equal(none.status, 416);
    t.equal(none.headers.get('content-range'), 'bytes */300000');
    t.match(await none.json(), { error: { code: 416, type: 'invalid_request_error' } });
  });

  t.test('HEAD gives type and length', async (t) => {
    const response = await fetch(link, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
    t.equal(response.status, 200);
    t.equal(response.headers.get('content-length'), '300000');
    t.equal(response.headers.get('content-type'), 'image/png');
    t.equal((await response.arrayBuffer()).byteLength, 0);
  });

  const refused = async (t: Test, url: string, method = 'GET') => {
    const response = await fetch(url, { method });
    t.equal(response.status, 404, url);
    return response.text();
  };

  t.test('cannot be altered', async (t) => {
    await blobs.put('images/img_2.png', bytes, { mediaType: 'image/png' });
    const base = new URL(link);
    const expires = Number(base.searchParams.get('expires'));
    const signature = base.searchParams.get('signature') ?? '';
    const changed = (change: (url: URL) => void) => {
      const url = new URL(link);
      change(url);
      return url.href;
    };
    const bad = [
      changed((url) => url.searchParams.set('expires', String(expires + 1))),
      changed((url) => url.searchParams.set('expires', `0${expires}`)),
      changed((url) => url.searchParams.set('expires', '1e12')),
      changed((url) => url.searchParams.delete('expires')),
      changed((url) => url.searchParams.delete('signature')),
      changed((url) => url.searchParams.set('signature', '')),
      changed((url) => url.searchParams.set('signature', `${signature}=`)),
      changed((url) => url.searchParams.set('signature', signature.slice(0, -1))),
      changed((url) => url.searchParams.set('signature', 'A'.repeat(43))),
      link.replace('img_1', 'img_2'),
      link.replace('img_1', 'img_3'),
      link.replace('images/', '../images/'),
      link.replace('images/', '%2e%2e%2fimages/'),
    ];
    for (const url of bad)
      t.match(await refused(t, url), /This link is not valid, or its time is over|No route/);
    await refused(t, bad[0] ?? '', 'HEAD');

    await fc.assert(
      fc.asyncProperty(fc.nat(42), fc.constantFrom(...'ABCXYZabcxyz0189-_'), async (at, character) => {
        if (signature[at] === character) return true;
        const forged = signature.slice(0, at) + character + signature.slice(at + 1);
        return (await fetch(link.replace(signature, forged))).status === 404;
      }),
      { numRuns: 40 },
    );
  });

  t.test('expires with its time, and with the file', async (t) => {
    t.match(await refused(t, await blobs.link(name, 0)), /its time is over/);
    t.match(await refused(t, await blobs.link(name, -5)), /its time is over/);
    await blobs.put('gone.txt', Buffer.from('x'), { mediaType: 'text/plain' });
    const gone = await blobs.link('gone.txt', 60);
    t.equal((await fetch(gone)).status, 200);
    await blobs.remove('gone.txt');
    t.match(await refused(t, gone), /There is no such file/);
  });

  t.test('accepts no other method', async (t) => {
    const response = await fetch(link, { method: 'POST' });
    t.equal(response.status, 405);
    t.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS');
  });
});
