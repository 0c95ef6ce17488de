/** Tests where OAuth tokens for Kafka come from: a file that is reread, and a token endpoint. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { tokensFrom } from '../../src/adapters/events/kafka-tokens.ts';

t.test('a file is read for every token', async (t) => {
  const file = join(t.testdir(), 'token');
  const next = tokensFrom({ file });
  await t.rejects(next(), { code: 'ENOENT' });
  for (const token of ['first', 'second']) {
    writeFileSync(file, `${token}\n`);
    t.strictSame(await next(), { value: token });
  }
  for (const wrong of ['', 'two words', 'a\u0001b', 'ü']) {
    writeFileSync(file, wrong);
    await t.rejects(next(), new Error(`${file} contains no token`));
  }
});

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const startEndpoint = async (t: Test, respond: Respond) => {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    respond(request, response, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/token`;
};

const client = { clientId: 'sluice', clientSecret: 'a:b c/ü', scope: 'kafka write' };

t.test('client credentials are exchanged for a token', async (t) => {
  const asked: object[] = [];
  const url = await startEndpoint(t, ({ method, headers }, response, body) => {
    asked.push({ method, authorization: headers.authorization, type: headers['content-type'], body });
    const access_token = `token-${asked.length}`;
    setTimeout(
      () => response.end(JSON.stringify({ access_token, expires_in: asked.length === 1 ? 3600 : 0 })),
      20,
    );
  });
  const next = tokensFrom({ url, ...client });
  t.match(
    await Promise.all([next(), next()]),
    [{ value: 'token-1' }, { value: 'token-1' }],
    'one request for both',
  );
  t.match(await next(), { value: 'token-1' }, 'kept while it is valid');
  t.strictSame(asked, [
    {
      method: 'POST',
      authorization: `Basic ${Buffer.from('sluice:a%3Ab+c%2F%C3%BC').toString('base64')}`,
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      body: 'grant_type=client_credentials&scope=kafka+write',
    },
  ]);
  const another = tokensFrom({ url, ...client, scope: undefined });
  t.match(await another(), { value: 'token-2' });
  t.match(await another(), { value: 'token-3' }, 'not kept without a life');
  t.match(asked[1], { body: 'grant_type=client_credentials' });
});

t.test('what an endpoint may respond instead', async (t) => {
  let respond: Respond = () => undefined;
  const url = await startEndpoint(t, (...all) => respond(...all));
  const next = tokensFrom({ url, ...client });
  const rows: [Respond, string][] = [
    [
      (_, response) => response.writeHead(401).end('{"error":"invalid_client"}'),
      `${url} responded 401 instead of a token`,
    ],
    [(_, response) => response.end('<html>'), `${url} responded with something other than JSON`],
    [(_, response) => response.end('null'), `${url} contains no token`],
    [(_, response) => response.end('{"access_token":7}'), `${url} contains no token`],
    [(_, response) => response.end('x'.repeat(70_000)), `${url} responded with more than 65536 bytes`],
    [
      (_, response) => response.writeHead(302, { location: '/other' }).end(),
      `${url} does not respond: unexpected redirect`,
    ],
    [(request) => request.socket.destroy(), `${url} does not respond: other side closed`],
  ];
  for (const [reply, sentence] of rows) {
    respond = reply;
    await t.rejects(next(), new Error(sentence), sentence);
  }
  respond = (_, response) => response.end('{"access_token":"good"}');
  t.match(await next(), { value: 'good' }, 'and works again');
});

t.test('an endpoint that is silent has four seconds', async (t) => {
  const url = await startEndpoint(t, () => undefined);
  await t.rejects(tokensFrom({ url, ...client })(), { message: /does not respond: .*timeout/ });
});
