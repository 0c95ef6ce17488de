/** Tests temporary credentials for S3: their renewal on a clock of the test, and what STS gets to see. */
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Agent } from 'undici';
import { webIdentityCredentials } from '../../src/adapters/blobs/s3-credentials.ts';
import { eventually } from '../eventually.ts';

interface Sts {
  readonly url: string;
  readonly forms: Record<string, string>[];
  /** Of the next answers; 200 with credentials when there is none left. */
  readonly answers: [status: number, text: string][];
  /** Unix milliseconds. */
  expiration: number;
}

const refusal = (code: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>No.</Message></Error></ErrorResponse>`;

const startSts = async (t: Test): Promise<Sts> => {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += String(piece);
    sts.forms.push(Object.fromEntries(new URLSearchParams(text)));
    const [status, answer] = sts.answers.shift() ?? [
      200,
      `<R><Credentials><AccessKeyId>id-${sts.forms.length}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
       <SessionToken>session</SessionToken><Expiration>${new Date(sts.expiration).toISOString()}</Expiration></Credentials></R>`,
    ];
    response.writeHead(status).end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sts: Sts = { url, forms: [], answers: [], expiration: 0 };
  return sts;
};

const begin = async (t: Test) => {
  const sts = await startSts(t);
  const tokenFile = join(t.testdir(), 'token');
  await writeFile(tokenFile, 'token-1\n');
  const clock = { now: 1_000_000_000 };
  const agent = new Agent();
  t.teardown(() => agent.destroy());
  const identity = {
    stsEndpoint: sts.url,
    tokenFile,
    roleArn: 'arn:aws:iam::1:role/r',
    sessionName: 'sluice',
    seconds: 3600,
  };
  const source = webIdentityCredentials(identity, agent, () => clock.now);
  const id = async (seconds?: number) => (await source.get(seconds)).accessKeyId;
  const expireIn = (seconds: number) => {
    sts.expiration = clock.now + seconds * 1000;
  };
  return { sts, tokenFile, clock, source, id, expireIn };
};

t.test('a token is exchanged once, and again before the credentials expire', async (t) => {
  const { sts, tokenFile, clock, source, id, expireIn } = await begin(t);
  expireIn(3600);
  t.strictSame(await Promise.all([id(), id(), id()]), ['id-1', 'id-1', 'id-1']);
  t.strictSame(sts.forms, [
    {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/r',
      RoleSessionName: 'sluice',
      DurationSeconds: '3600',
      WebIdentityToken: 'token-1',
    },
  ]);
  t.match(
    source.get(),
    { accessKeyId: 'id-1', secretAccessKey: 'secret', sessionToken: 'session' },
    'at once',
  );
  clock.now += 3_290_000;
  t.equal(await id(), 'id-1');
  t.equal(sts.forms.length, 1);
  // As the platform does: the file is replaced.
  await writeFile(`${tokenFile}.new`, 'token-2');
  await rename(`${tokenFile}.new`, tokenFile);
  clock.now += 20_000;
  expireIn(3600);
  t.equal(await id(), 'id-1', 'requests do not wait for it');
  await eventually(async () => (await id()) === 'id-2');
  t.equal(sts.forms.length, 2);
  t.equal(sts.forms[1]?.WebIdentityToken, 'token-2');
});

t.test('a link gets credentials that last, once a minute at most', async (t) => {
  const { sts, clock, id, expireIn } = await begin(t);
  expireIn(3600);
  t.equal(await id(3600), 'id-1');
  clock.now += 59_000;
  t.equal(await id(3600), 'id-1');
  clock.now += 2_000;
  expireIn(3600);
  t.equal(await id(1800), 'id-1', 'enough for a short one');
  t.strictSame(await Promise.all([id(3600), id(3600)]), ['id-2', 'id-2']);
  t.equal(sts.forms.length, 2);
});

t.test('while STS fails, credentials are used until they expire', async (t) => {
  const { sts, clock, id, expireIn } = await begin(t);
  expireIn(3600);
  await id();
  clock.now += 3_400_000;
  for (let attempt = 0; attempt < 3; attempt++) sts.answers.push([503, '']);
  t.equal(await id(3600), 'id-1');
  t.equal(sts.forms.length, 4, 'three attempts');
  clock.now += 200_000;
  await t.rejects(id(), { name: 'CredentialsError', message: 'no credentials from STS: STS answered 503: ' });
  t.equal(sts.forms.length, 4, 'not again at once');
});

t.test('refusals and answers that cannot be used', async (t) => {
  for (const [answer, message] of [
    [[403, refusal('AccessDenied')], 'STS answered 403: AccessDenied No.'],
    [[200, '<R/>'], 'STS answered without credentials'],
  ] as const) {
    const { sts, id } = await begin(t);
    sts.answers.push([...answer]);
    await t.rejects(id(), { name: 'CredentialsError', message });
    t.equal(sts.forms.length, 1, 'not repeated');
  }
  const { sts, id } = await begin(t);
  for (let attempt = 0; attempt < 3; attempt++) sts.answers.push([200, ' '.repeat(70_000)]);
  await t.rejects(id(), { message: 'no credentials from STS: the answer is longer than 65536 bytes' });
});

t.test('a file that has no token', async (t) => {
  const { sts, tokenFile, id } = await begin(t);
  await writeFile(tokenFile, '\n');
  await t.rejects(id(), { message: /^AWS_WEB_IDENTITY_TOKEN_FILE: .*token is empty$/ });
  t.equal(sts.forms.length, 0);
  const other = await begin(t);
  await writeFile(other.tokenFile, 'x'.repeat(70_000));
  await t.rejects(other.id(), { message: /token is too large$/ });
});
