/** Tests the Blobs port on S3: the contract, and stores that are slow, busy or unavailable. */
import { createHash, randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { firstValueFrom, lastValueFrom, of, Subject, toArray } from 'rxjs';
import t, { type Test } from 'tap';
import { openBlobs } from '../../src/adapters/blobs/open.ts';
import { openS3Blobs } from '../../src/adapters/blobs/s3.ts';
import { S3Client } from '../../src/adapters/blobs/s3-client.ts';
import type { S3Settings } from '../../src/adapters/blobs/s3-settings.ts';
import { sweepBucket } from '../../src/adapters/blobs/s3-sweep.ts';
import { loadConfig } from '../../src/config.ts';
import { fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { blobsContract } from '../contracts/blobs.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { s3Environment, s3Missing, startS3 } from '../services/s3.ts';
import { startIdentityProvider } from './identity-provider.ts';

const log = pino({ level: 'silent' });
const png = { mediaType: 'image/png' };

t.test('on a real store', { skip: s3Missing() ?? false }, async (t) => {
  const service = await startS3();
  t.teardown(() => service.stop());
  const { settings } = service;
  const client = new S3Client(settings);
  t.teardown(() => client.close());
  const keys = async (): Promise<string[]> => {
    const query = { 'list-type': '2', prefix: settings.prefix };
    const { words } = await client.ask({ method: 'GET', query });
    return [...words.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) =>
      key.slice(settings.prefix.length),
    );
  };
  /** Unfinished ones of a blob. */
  const uploads = async (name: string): Promise<number> => {
    const query = { uploads: '', prefix: `${settings.prefix}files/${name}` };
    const { words } = await client.ask({ method: 'GET', query });
    return [...words.matchAll(/<UploadId>/g)].length;
  };

  await t.test('contract', (t) => blobsContract(t, async () => openS3Blobs(settings, log)));

  await t.test('an abandoned multipart upload is aborted', async (t) => {
    const blobs = openS3Blobs(settings, log);
    t.teardown(() => blobs.close());
    const bytes = new Subject<Buffer>();
    const writing = blobs.write('left', bytes, { ...png, backpressure: new Backpressure() }).subscribe();
    bytes.next(Buffer.alloc(9 * 1024 * 1024));
    const seen = (count: number) => eventually(async () => (await uploads('left')) === count);
    t.ok(await seen(1), 'it has begun');
    writing.unsubscribe();
    t.ok(await seen(0), 'and is gone');
    t.equal(await blobs.stat('left'), undefined);
  });

  await t.test('a link gives the blob without a key, until it expires or is altered', async (t) => {
    const blobs = openS3Blobs(settings, log);
    t.teardown(() => blobs.close());
    const bytes = randomBytes(100_000);
    await blobs.put('linked/a.png', bytes, png);
    await blobs.put('linked/b.png', bytes, png);
    const link = await blobs.link('linked/a.png', 60);
    t.ok(link.startsWith(`${settings.endpoint}/${settings.bucket}/${settings.prefix}files/linked/a.png?`));
    t.match(link, /X-Amz-Expires=60/);
    const whole = await fetch(link);
    t.equal(whole.status, 200);
    t.equal(whole.headers.get('content-type'), 'image/png');
    t.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
    const part = await fetch(link, { headers: { range: 'bytes=10-19' } });
    t.equal(part.status, 206);
    t.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20)));
    for (const altered of [
      link.replace('a.png', 'b.png'),
      link.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'),
      link.replace(/Signature=.{4}/, 'Signature=0000'),
    ])
      t.equal((await fetch(altered)).status, 403, altered);
    const short = await blobs.link('linked/a.png', 1);
    const over = async (): Promise<number | false> => {
      const response = await fetch(short);
      await response.arrayBuffer();
      return response.status !== 200 && response.status;
    };
    t.equal(await eventually(over), 403, 'its time is over');
  });

  await t.test('the sweep removes only expired blobs', async (t) => {
    const blobs = openS3Blobs(settings, log);
    t.teardown(() => blobs.close());
    const now = Date.now();
    const hour = 3_600_000;
    await blobs.put('sweep/soon.png', Buffer.from('1'), { ...png, expiresAt: now + hour });
    await blobs.put('sweep/late.png', Buffer.from('2'), { ...png, expiresAt: now + 5 * hour });
    await blobs.put('sweep/kept.png', Buffer.from('3'), png);
    await blobs.put('sweep/renewed.png', Buffer.from('4'), { ...png, expiresAt: now + hour });
    await blobs.put('sweep/renewed.png', Buffer.from('5'), { ...png, expiresAt: now + 5 * hour });
    const ends = new Map([
      ['sweep/soon.png', now + hour],
      ['sweep/late.png', now + 5 * hour],
      ['sweep/renewed.png', now + 5 * hour],
    ]);
    const setting = { client, prefix: settings.prefix, expiryOf: async (name: string) => ends.get(name) };
    const files = async () => (await keys()).filter((key) => key.startsWith('files/sweep/')).sort();
    await sweepBucket(setting, now + hour - 1);
    t.equal((await files()).length, 4, 'too early');
    await Promise.all([sweepBucket(setting, now + 2 * hour), sweepBucket(setting, now + 2 * hour)]);
    t.strictSame(await files(), ['files/sweep/kept.png', 'files/sweep/late.png', 'files/sweep/renewed.png']);
    await sweepBucket(setting, now + 6 * hour);
    t.strictSame(await files(), ['files/sweep/kept.png']);
    t.strictSame(
      (await keys()).filter((key) => key.startsWith('expiring/')),
      [],
    );
  });

  await t.test('a gateway stores its files in S3', async (t) => {
    const gateway = await startGateway({ env: s3Environment(settings) });
    t.teardown(() => gateway.stop());
    await gateway.ports.blobs.put('gateway/a.png', Buffer.from('here'), png);
    t.equal(await (await fetch(await gateway.ports.blobs.link('gateway/a.png', 60))).text(), 'here');
  });

  await t.test('a wrong key or bucket fails the start with a one-line error', async (t) => {
    const { host } = new URL(settings.endpoint);
    const opening = (change: Partial<S3Settings>) =>
      openS3Blobs({ ...settings, ...change }, log)
        .check()
        .then(
          () => '',
          (error: Error) => error.message,
        );
    t.equal(await opening({ bucket: 'no-such-bucket' }), `S3 at ${host} has no bucket "no-such-bucket"`);
    t.equal(
      await opening({ credentials: { accessKeyId: 'sluice', secretAccessKey: 'wrong-secret' } }),
      `S3 at ${host} refuses the key for the bucket "${settings.bucket}"`,
    );
  });
});

/** A store with an identity provider, keys of its own, and buckets in host names. */
t.test('on a store of our own', { skip: s3Missing({ own: true }) ?? false }, async (t) => {
  const provider = await startIdentityProvider();
  t.teardown(() => provider.stop());
  const audience = 'sluice-gateway';
  const service = await startS3({
    own: true,
    environment: {
      MINIO_IDENTITY_OPENID_CONFIG_URL: provider.configUrl,
      MINIO_IDENTITY_OPENID_CLIENT_ID: audience,
      MINIO_IDENTITY_OPENID_ROLE_POLICY: 'readwrite',
      MINIO_KMS_SECRET_KEY: `sluice-key:${randomBytes(32).toString('base64')}`,
      MINIO_DOMAIN: 'files.test',
    },
  });
  t.teardown(() => service.stop());
  const { settings } = service;
  const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, ...env } = s3Environment(settings);

  await t.test('web identity', async (t) => {
    const tokenFile = join(t.testdir(), 'token');
    await writeFile(tokenFile, provider.token({ audience, seconds: 3600 }));
    const role = createHash('sha1').update(audience).digest('base64url');
    const identity = {
      ...env,
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: `arn:minio:iam:::role/${role}`,
      AWS_ENDPOINT_URL_STS: settings.endpoint,
    };
    const found = loadConfig(identity).s3;
    if (found === undefined) throw new Error('no settings');
    await t.test('contract', (t) => blobsContract(t, async () => openS3Blobs(found, log)));
    const blobs = openS3Blobs(found, log);
    await blobs.put('by-identity.png', Buffer.from('here'), png);
    const link = await blobs.link('by-identity.png', 60);
    t.match(link, /X-Amz-Security-Token=/);
    t.equal(await (await fetch(link)).text(), 'here');
    await blobs.close();
    for (const [bad, reason] of [
      [
        provider.token({ audience: 'somebody-else', seconds: 3600 }),
        /^S3 at .* cannot be used: STS answered 4\d\d: /,
      ],
      ['no token', /^S3 at .* cannot be used: STS answered 4\d\d: /],
    ] as const) {
      await writeFile(tokenFile, bad);
      const refused = openS3Blobs(found, log);
      await t.rejects(refused.check(), { message: reason });
      await refused.close();
    }
  });

  await t.test('encryption', async (t) => {
    const client = new S3Client(settings);
    t.teardown(() => client.close());
    for (const [method, keyId] of [
      ['AES256', undefined],
      ['aws:kms', 'sluice-key'],
    ] as const) {
      const blobs = openS3Blobs({ ...settings, encryption: { method, keyId } }, log);
      const big = randomBytes(9 * 1024 * 1024);
      await blobs.put('sealed/small.png', Buffer.from('small'), {
        ...png,
        expiresAt: Date.now() + 3_600_000,
      });
      await lastValueFrom(
        blobs.write('sealed/big.png', of(big), { ...png, backpressure: new Backpressure() }),
      );
      const read = (name: string) => firstValueFrom(blobs.read(name, new Backpressure()).pipe(toArray()));
      t.equal(Buffer.concat(await read('sealed/small.png')).toString(), 'small');
      t.ok(Buffer.concat(await read('sealed/big.png')).equals(big));
      const { words } = await client.ask({
        method: 'GET',
        query: { 'list-type': '2', prefix: settings.prefix },
      });
      const names = [...words.matchAll(/<Key>([^<]+sealed[^<]+)<\/Key>/g)].map(([, key = '']) =>
        key.slice(settings.prefix.length),
      );
      t.ok(names.length >= 3, 'two objects and a marker');
      for (const key of names.filter((key) => !key.startsWith('expiring/') || method === 'AES256')) {
        const { headers, body } = await client.send({ method: 'HEAD', key });
        await body.dump();
        t.equal(headers['x-amz-server-side-encryption'], method, key);
        if (keyId !== undefined)
          t.match(headers['x-amz-server-side-encryption-aws-kms-key-id'], /sluice-key$/);
      }
      await blobs.close();
    }
  });

  await t.test('contract, with the bucket in the host name', async (t) => {
    const { port } = new URL(settings.endpoint);
    const { lookup } = dns;
    const local = ((name: string, options: dns.LookupOptions, done: LookupDone) => {
      if (!name.endsWith('.files.test')) return lookup(name, options, done as never);
      return options.all === true
        ? done(null, [{ address: '127.0.0.1', family: 4 }])
        : done(null, '127.0.0.1', 4);
    }) as typeof dns.lookup;
    dns.lookup = local;
    t.teardown(() => {
      dns.lookup = lookup;
    });
    const prefix = `${settings.prefix}hosted/`;
    const hosted = { ...settings, prefix, endpoint: `http://files.test:${port}`, pathStyle: false };
    await blobsContract(t, async () => openS3Blobs(hosted, log));
  });
});

type LookupDone = (error: null, address: string | dns.LookupAddress[], family?: number) => void;

const play = async (t: Test, script: RequestListener) => {
  const server = createServer(script);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings: S3Settings = {
    endpoint: `http://127.0.0.1:${port}`,
    publicEndpoint: 'https://files.example',
    bucket: 'bucket',
    prefix: 'pre/',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    pathStyle: true,
  };
  const blobs = openS3Blobs(settings, log);
  t.teardown(async () => {
    await blobs.close();
    server.closeAllConnections();
    server.close();
  });
  return { blobs, settings };
};

const readAll = async (request: IncomingMessage): Promise<number> => {
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) size += piece.length;
  return size;
};
const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>No.</Message></Error>`);
};
const away = fail('unavailable', 'The store of files cannot answer now');

t.test('requests to a busy store are retried a few times', async (t) => {
  let asked = 0;
  const sizes: number[] = [];
  const { blobs } = await play(t, async (request, response) => {
    sizes.push(await readAll(request));
    asked += 1;
    if (asked < 3) refuse(response, 503, 'SlowDown');
    else response.writeHead(200, { etag: '"1"' }).end();
  });
  await blobs.put('a', Buffer.alloc(1000), png);
  t.equal(asked, 3);
  t.strictSame(sizes, [1000, 1000, 1000], 'the whole of it each time');
  asked = -100;
  await t.rejects(blobs.stat('a'), away);
  t.equal(asked, -97);
});

t.test('a store that breaks connections, refuses or is unavailable', async (t) => {
  const { blobs } = await play(t, (request) => request.socket.destroy());
  await t.rejects(blobs.put('a', Buffer.from('x'), png), away);
  await t.rejects(blobs.check(), { message: /^S3 at 127\.0\.0\.1:\d+ cannot be reached$/ });
  const refusing = await play(t, (_request, response) => refuse(response, 403, 'AccessDenied'));
  await t.rejects(refusing.blobs.put('a', Buffer.from('x'), png), away);
  await t.rejects(refusing.blobs.stat('a'), away);
  await t.rejects(firstValueFrom(refusing.blobs.read('a', new Backpressure()).pipe(toArray())), away);
  await t.rejects(openBlobs({ dataDir: '/nowhere', s3: refusing.settings }, around), {
    message: /refuses the key for the bucket "bucket"$/,
  });
});

const around = { state: undefined as never, log, publicUrl: () => '' };

t.test('an upload with a failed part is aborted', async (t) => {
  const requests: string[] = [];
  const news = new EventEmitter();
  const takenBack = once(news, 'DELETE');
  const { blobs } = await play(t, async (request, response) => {
    const size = await readAll(request);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const part = searchParams.get('partNumber');
    requests.push(`${request.method} ${pathname} ${part ?? [...searchParams.keys()].join()} ${size > 0}`);
    if (searchParams.has('uploads')) response.end('<R><UploadId>up+1/2=</UploadId></R>');
    else if (part === '2') refuse(response, 400, 'EntityTooSmall');
    else if (request.method === 'DELETE') {
      response.writeHead(204).end();
      news.emit('DELETE');
    } else response.writeHead(200, { etag: `"${part}"` }).end();
  });
  const bytes = new Subject<Buffer>();
  const written = lastValueFrom(blobs.write('big', bytes, { ...png, backpressure: new Backpressure() }));
  for (let piece = 0; piece < 20; piece++) bytes.next(Buffer.alloc(1024 * 1024));
  bytes.complete();
  await t.rejects(written, away);
  await takenBack;
  t.strictSame(requests, [
    'POST /bucket/pre/files/big uploads false',
    'PUT /bucket/pre/files/big 1 true',
    'PUT /bucket/pre/files/big 2 true',
    'DELETE /bucket/pre/files/big uploadId false',
  ]);
});

t.test('an upload that fails on completion in spite of status 200', async (t) => {
  const { blobs } = await play(t, async (request, response) => {
    await readAll(request);
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    if (searchParams.has('uploads')) response.end('<R><UploadId>1</UploadId></R>');
    else if (request.method === 'POST')
      response.writeHead(200).end('<Error><Code>InternalError</Code></Error>');
    else response.writeHead(200, { etag: '"1"' }).end();
  });
  const written = blobs.write('big', of(Buffer.alloc(9 * 1024 * 1024)), {
    ...png,
    backpressure: new Backpressure(),
  });
  await t.rejects(lastValueFrom(written), away);
});

t.test('a reader that unsubscribes ends the download', async (t) => {
  const gone = new Promise<void>((resolve) => {
    void play(t, (_request, response) => {
      response.on('close', resolve);
      response.writeHead(200, { 'content-length': '100000000' });
      response.write(Buffer.alloc(100_000));
    }).then(({ blobs }) => {
      const reading = blobs.read('a', new Backpressure()).subscribe(() => reading.unsubscribe());
    });
  });
  await gone;
});

t.test('links use the public address', async (t) => {
  const { blobs, settings } = await play(t, () => undefined);
  t.match(
    await blobs.link('a/b.png', 3600),
    /^https:\/\/files\.example\/bucket\/pre\/files\/a\/b\.png\?X-Amz-Expires=3600&.*X-Amz-Signature=[0-9a-f]{64}$/,
  );
  const hosted = openS3Blobs({ ...settings, pathStyle: false }, log);
  t.teardown(() => hosted.close());
  t.match(
    await hosted.link('a', 99_999_999),
    /^https:\/\/bucket\.files\.example\/pre\/files\/a\?X-Amz-Expires=604800&/,
  );
});

t.test('every object is written with the encryption that is set', async (t) => {
  const seen: string[] = [];
  const { settings } = await play(t, async (request, response) => {
    await readAll(request);
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const part = searchParams.has('partNumber') ? 'part' : [...searchParams.keys()].join();
    const { 'x-amz-server-side-encryption': method, 'x-amz-server-side-encryption-aws-kms-key-id': keyId } =
      request.headers;
    const isSigned = request.headers.authorization?.includes('x-amz-server-side-encryption') === true;
    seen.push(`${request.method} ${part} ${method} ${keyId} ${isSigned}`.replace('  ', ' '));
    if (searchParams.has('uploads')) response.end('<R><UploadId>1</UploadId></R>');
    else response.writeHead(200, { etag: '"1"' }).end();
  });
  const blobs = openS3Blobs({ ...settings, encryption: { method: 'aws:kms', keyId: 'key-1' } }, log);
  t.teardown(() => blobs.close());
  await blobs.put('small', Buffer.from('x'), { ...png, expiresAt: Date.now() + 1000 });
  const big = of(Buffer.alloc(9 * 1024 * 1024));
  await lastValueFrom(blobs.write('big', big, { ...png, backpressure: new Backpressure() }));
  t.strictSame(seen, [
    'PUT aws:kms key-1 true',
    'PUT aws:kms key-1 true',
    'POST uploads aws:kms key-1 true',
    'PUT part undefined undefined false',
    'POST uploadId undefined undefined false',
  ]);
});

t.test('a session token is part of requests and links', async (t) => {
  const tokens: unknown[] = [];
  const { settings } = await play(t, (request, response) => {
    tokens.push(request.headers['x-amz-security-token']);
    response.writeHead(200, { 'content-length': '0' }).end();
  });
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'session+/=' };
  const blobs = openS3Blobs({ ...settings, credentials }, log);
  t.teardown(() => blobs.close());
  await blobs.stat('a');
  t.strictSame(tokens, ['session+/=']);
  t.equal(new URL(await blobs.link('a', 60)).searchParams.get('X-Amz-Security-Token'), 'session+/=');
});

t.test('settings', async (t) => {
  const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };
  t.equal(loadConfig({}).s3, undefined);
  t.strictSame(loadConfig({ S3_BUCKET: 'files', S3_REGION: 'eu-west-1', ...keys }).s3, {
    endpoint: 'https://s3.eu-west-1.amazonaws.com',
    publicEndpoint: undefined,
    bucket: 'files',
    prefix: '',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    encryption: undefined,
    pathStyle: false,
  });
  t.match(
    loadConfig({ S3_ENDPOINT: 'http://minio:9000', S3_BUCKET: 'files', S3_PREFIX: 'a/b/', ...keys }).s3,
    {
      endpoint: 'http://minio:9000',
      prefix: 'a/b/',
      region: 'us-east-1',
      pathStyle: true,
    },
  );
  const identity = {
    S3_BUCKET: 'files',
    S3_REGION: 'eu-west-1',
    AWS_WEB_IDENTITY_TOKEN_FILE: import.meta.filename,
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/sluice',
  };
  t.strictSame(loadConfig(identity).s3?.credentials, {
    stsEndpoint: 'https://sts.eu-west-1.amazonaws.com',
    tokenFile: import.meta.filename,
    roleArn: 'arn:aws:iam::123456789012:role/sluice',
    sessionName: 'sluice',
    seconds: 3600,
  });
  t.strictSame(
    loadConfig({ ...identity, ...keys, S3_SESSION_TOKEN: 'token' }).s3?.credentials,
    { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
    'keys come first',
  );
  t.strictSame(
    loadConfig({ S3_BUCKET: 'files', ...keys, S3_SSE: 'aws:kms', S3_SSE_KMS_KEY_ID: 'k' }).s3?.encryption,
    { method: 'aws:kms', keyId: 'k' },
  );
  for (const [env, message] of [
    [
      { S3_ENDPOINT: 'http://minio:9000' },
      /^S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set/,
    ],
    [{ S3_BUCKET: 'files' }, /must be set together/],
    [{ S3_BUCKET: 'Not/A Bucket', ...keys }, /^S3_BUCKET must be the name of a bucket/],
    [{ S3_BUCKET: 'files', S3_PREFIX: 'no-slash', ...keys }, /^S3_PREFIX must be/],
    [{ S3_BUCKET: 'files', S3_PREFIX: '../', ...keys }, /^S3_PREFIX must be/],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'minio:9000', ...keys }, /^S3_ENDPOINT must be an address/],
    [{ S3_BUCKET: 'files', S3_PATH_STYLE: 'yes', ...keys }, /^S3_PATH_STYLE must be 1 or 0/],
    [{ S3_BUCKET: 'files', S3_SESSION_TOKEN: 'x' }, /^S3_SESSION_TOKEN needs S3_ACCESS_KEY_ID/],
    [{ S3_BUCKET: 'files', S3_SESSION_TOKEN: 'a b', ...keys }, /^S3_SESSION_TOKEN must be at most 8192/],
    [{ S3_BUCKET: 'files', S3_SSE: 'aes', ...keys }, /^S3_SSE must be one of off, AES256, aws:kms/],
    [{ S3_BUCKET: 'files', S3_SSE_KMS_KEY_ID: 'k', ...keys }, /^S3_SSE_KMS_KEY_ID needs S3_SSE=aws:kms$/],
    [{ ...identity, AWS_ROLE_ARN: undefined }, /may stand for the keys$/],
    [{ ...identity, AWS_ROLE_ARN: 'role' }, /^AWS_ROLE_ARN must start with "arn:"/],
    [
      { ...identity, AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token' },
      /^AWS_WEB_IDENTITY_TOKEN_FILE names \/nowhere\/token, which does not exist$/,
    ],
    [{ ...identity, AWS_ROLE_SESSION_NAME: 'a b' }, /^AWS_ROLE_SESSION_NAME must be/],
    [{ ...identity, AWS_ENDPOINT_URL_STS: 'sts' }, /^AWS_ENDPOINT_URL_STS must be an address/],
    [{ ...identity, S3_ROLE_SECONDS: '60' }, /^S3_ROLE_SECONDS must be a whole number from 900 to 43200/],
  ] as const)
    t.throws(() => loadConfig(env), { message });
});
