/** Tests the exact response to malformed requests on both servers, which keep serving. */
import { map, of, toArray } from 'rxjs';
import t, { type Test } from 'tap';
import Type from 'typebox';
import { compose } from '../../pipelines/core/compose.ts';
import { parseJson, receiveJson } from '../../pipelines/core/parse-json.ts';
import { parseMultipart } from '../../pipelines/core/parse-multipart.ts';
import { validate } from '../../pipelines/core/validate.ts';
import type { Route } from '../../pipelines/route.ts';
import type { ErrorKind } from '../../src/errors.ts';
import type { KeyedPipeline, Pipeline } from '../../src/ports/exchange.ts';
import { keyed, open, text } from '../contracts/edge/probe.ts';
import { eventually } from '../eventually.ts';
import { shared } from '../shared.ts';
import { cases } from './bad-input/cases.ts';
import { errorEnvelope, type Outcome } from './bad-input/expected.ts';
import { startEdge } from './edge-fixture.ts';
import { type RawClient, type RawResponse, request } from './raw-client.ts';
import { servers } from './servers.ts';

const ChatRequest = Type.Object({
  model: Type.String(),
  messages: Type.Array(
    Type.Object({
      role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
      content: Type.String(),
    }),
    { minItems: 1 },
  ),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
});

const offload = shared({ parseJson: () => Promise.reject(new Error('no body is that large')) });

const chat = (kind?: ErrorKind): KeyedPipeline =>
  compose(receiveJson(kind), parseJson(offload, kind), validate(ChatRequest, kind), ({ model }) =>
    text(model),
  );

const upload: Pipeline = (exchange) =>
  parseMultipart(exchange, { required: ['file'], maxFileBytes: 1000, maxFieldBytes: 100, maxParts: 8 }).pipe(
    map((part) => {
      if (part.kind === 'file') part.discard();
      return part;
    }),
    toArray(),
    map(() => text('stored')),
  );

const routes: Route[] = [
  open('GET', '/ok', () => of(text('ok'))),
  open('GET', '/models/{id+}', () => of(text('model'))),
  keyed('POST', '/chat', chat(), 2000),
  { ...keyed('POST', '/messages', chat(), 2000), errors: 'messages' },
  keyed('POST', '/systemone', chat('unprocessable'), 2000),
  keyed('POST', '/files', upload, 20_000),
];

/** Enough for a server on this machine to say what it has to say. */
const silence = 150;

for (const { name, skip } of servers)
  t.test(name, { skip }, async (t) => {
    const { client, edge } = await startEdge(t, name, routes);
    for (const { name: what, bytes, expected, head } of cases) {
      const outcome: Outcome = typeof expected === 'object' && 'uws' in expected ? expected[name] : expected;
      const connection = await client();
      connection.send(bytes);
      await check(t, what, outcome, connection, head === true).catch((error: Error) =>
        t.fail(`${what}: ${error.message}`),
      );
      connection.socket.destroy();

      const after = await client();
      const good = await after.send(request('GET', '/v1/ok')).response();
      after.socket.destroy();
      if (good.body !== 'ok') t.fail(`the server does not answer any more after: ${what}`);
    }
    t.ok(cases.length >= 60, `${cases.length} malformed requests`);
    await eventually(() => edge.inFlight() === 0, 'nothing left in flight');
  });

const check = async (t: Test, what: string, outcome: Outcome, connection: RawClient, head: boolean) => {
  if (outcome === 'waiting') {
    await new Promise((resolve) => setTimeout(resolve, silence));
    t.same({ text: connection.text, closed: connection.closed }, { text: '', closed: false }, what);
    return;
  }
  if (outcome === 'closed') {
    await connection.disconnected();
    t.equal(connection.text, '', what);
    return;
  }
  const response: RawResponse = await connection.response({ head });
  if (outcome === 'fine') t.equal(response.status, 200, what);
  else if ('library' in outcome)
    t.same([response.status, response.body], [outcome.library, outcome.body], what);
  else if (head) t.same([response.status, response.body], [outcome.status, ''], what);
  else {
    const { headers, status, body } = response;
    t.same(
      { status, type: headers['content-type'], body: JSON.parse(body) as unknown },
      {
        status: outcome.status,
        type: 'application/json',
        body: errorEnvelope(outcome, headers['request-id']),
      },
      what,
    );
    t.match(headers['x-request-id'], /^req_/);
    t.equal(headers['x-should-retry'], 'false');
  }
};
