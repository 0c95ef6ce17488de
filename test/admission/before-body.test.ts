/** Tests that a large body is received only once its request is admitted, by what its first bytes say. */
import t, { type Test } from 'tap';
import type { ModelKind } from '../../schemas/catalog.ts';
import { withOwnLimits } from '../../src/limits/override.ts';
import type { AdmissionRequest } from '../../src/ports/admission.ts';
import { startPosting } from '../embeddings/posting.ts';
import { eventually } from '../eventually.ts';
import { RawClient } from '../http/raw-client.ts';
import { servers } from '../http/servers.ts';

const limits = { concurrency: 4, requests_per_minute: 1 };
const row = (kind: ModelKind, own = limits) => ({
  kind,
  engine: 'simulator',
  limits: own,
  ...(['chat', 'embedding', 'rerank', 'decision'].includes(kind) ? { context_length: 100_000 } : {}),
});

const routes: readonly (readonly [path: string, kind: ModelKind])[] = [
  ['/chat/completions', 'chat'],
  ['/chat/completions/RAG', 'chat'],
  ['/completions', 'chat'],
  ['/messages', 'chat'],
  ['/messages/count_tokens', 'chat'],
  ['/responses', 'chat'],
  ['/tokenize', 'chat'],
  ['/detokenize', 'chat'],
  ['/embeddings', 'embedding'],
  ['/rerank', 'rerank'],
  ['/systemone', 'decision'],
  ['/images', 'image'],
  ['/images/generations', 'image'],
  ['/images/edits', 'image'],
  ['/audio/speech', 'speech'],
  ['/audio/transcriptions', 'transcription'],
  ['/videos', 'video'],
  ['/music', 'music'],
];
const forms: readonly (readonly [path: string, kind: ModelKind, file: string])[] = [
  ['/images/edits', 'image', 'image'],
  ['/audio/transcriptions', 'transcription', 'file'],
  ['/videos', 'video', 'input_reference'],
];
const modelOf = (path: string, type: string): string =>
  `acme${path.replace(/\W+/g, '-').toLowerCase()}-${type}`;

/** Behind these much of the body is still to come. */
const padding = 'a'.repeat(80 * 1024);
const length = 900_000;
const json = 'application/json';
const form = 'multipart/form-data; boundary=limit';
const field = (name: string, value: string): string =>
  `--limit\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const fileStart = (name: string): string =>
  `--limit\r\ncontent-disposition: form-data; name="${name}"; filename="a.bin"\r\n\r\n${padding}`;

type Posting = Awaited<ReturnType<typeof startPosting>>;

/** Sends the beginning of a request. */
const begin = async ({ gateway }: Posting, path: string, type: string, start: string): Promise<RawClient> => {
  const client = await RawClient.connect(Number(new URL(gateway.url).port));
  return client.send(
    `POST /v1${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${start}`,
  );
};

const running = ({ gateway }: Posting, count: number) =>
  eventually(() => gateway.ports.admission.stats().running === count, `${count} running`);

const messageOf = (text: string): string =>
  (JSON.parse(text) as { readonly error: { readonly message: string } }).error.message;

/** The first is admitted and waits for the rest of its body; it leaves, and the second is over the limit. */
const admittedOnce = async (
  t: Test,
  posting: Posting,
  path: string,
  type: string,
  start: string,
  model: string,
) => {
  const first = await begin(posting, path, type, start);
  await running(posting, 1);
  t.equal(first.total, 0, 'a slot is held before the body is there');
  first.socket.destroy();
  await running(posting, 0);
  const second = await begin(posting, path, type, start);
  const { status, headers, body } = await second.response();
  t.equal(status, 429, body);
  t.match(messageOf(body), `Rate limit reached for ${model}: 1 requests per minute`);
  t.match(headers, { connection: 'close', 'retry-after': /^\d+$/ });
  return second;
};

for (const { name, skip } of servers)
  t.test(`bodies that are not sent (${name})`, { skip }, async (t) => {
    const posting = await startPosting({
      env: { SLUICE_EDGE: name },
      catalog: JSON.stringify({
        models: Object.fromEntries([
          ...routes.map(([path, kind]) => [modelOf(path, 'json'), row(kind)]),
          ...forms.map(([path, kind]) => [modelOf(path, 'form'), row(kind)]),
        ]),
      }),
    });
    t.teardown(() => posting.gateway.stop());
    const refused: RawClient[] = [];
    for (const [path, kind] of routes)
      t.test(`${path} as JSON`, async (t) => {
        const model = modelOf(path, 'json');
        const start = `{"stream":false,"model":"${model}","${kind}":"${padding}`;
        refused.push(await admittedOnce(t, posting, path, json, start, model));
      });
    for (const [path, , file] of forms)
      t.test(`${path} as a form`, async (t) => {
        const model = modelOf(path, 'form');
        const start = field('model', model) + fileStart(file);
        refused.push(await admittedOnce(t, posting, path, form, start, model));
      });
    t.test('nothing is recorded', async (t) => t.strictSame(posting.events, []));
    t.test('the connection closes', () => Promise.all(refused.map((client) => client.disconnected())));
  });

t.test('the model of the whole request is the one that counts', async (t) => {
  const posting = await startPosting<{ readonly model: string }>({
    catalog: JSON.stringify({
      models: {
        'acme/free': row('chat', { concurrency: 9, requests_per_minute: 100 }),
        'acme/scarce': row('chat'),
        'acme/other': row('chat'),
        'acme/late': row('chat'),
        'acme/wrong': row('chat'),
      },
    }),
  });
  t.teardown(() => posting.gateway.stop());
  const messages = (content: string) => `"messages":[{"role":"user","content":"/sim tokens=2\\n${content}"}]`;
  const post = (text: string) => posting.post('/chat/completions', text);
  const ask = async (text: string) => {
    const { status, body } = await post(text);
    await running(posting, 0);
    return body.error === undefined ? `${status} ${body.model}` : `${status} ${body.error.message}`;
  };
  const small = (model: string) => ask(`{"model":"${model}",${messages('Hello')}}`);
  const limit = (model: string) => `429 Rate limit reached for ${model}: 1 requests per minute`;

  t.equal(await ask(`{"model":"acme/free",${messages(padding)},"model":"acme/scarce"}`), '200 acme/scarce');
  t.equal(await small('acme/scarce'), limit('acme/scarce'), 'it has taken a place');
  t.equal(
    await ask(`{"model":"acme/free",${messages(padding)},"model":"acme/scarce"}`),
    limit('acme/scarce'),
    'the first name of two opens no way around the limit of the last',
  );
  t.equal(
    await ask(`{"model":"acme/scarce",${messages(padding)},"model":"acme/free"}`),
    limit('acme/scarce'),
  );
  t.equal(
    await ask(`{"model":"acme/nobody",${messages(padding)},"model":"acme/other"}`),
    '200 acme/other',
    'a name that nobody has decides nothing',
  );
  t.equal(await ask(`{"model":"acme/nobody",${messages(padding)}}`), '404 No model named "acme/nobody"');

  t.equal(await ask(`{${messages(padding)},"model":"acme/late"}`), '200 acme/late', 'after its messages');
  t.equal(await ask(`{${messages(padding)},"model":"acme/late"}`), limit('acme/late'));
  t.equal(await ask(`{${messages(padding)},"model":"acme/free"}`), '200 acme/free');

  t.equal(await ask(`{"model":"acme/wrong","messages":"${padding}"}`), '400 messages must be an array');
  t.equal(await small('acme/wrong'), limit('acme/wrong'), 'a fault in a large body takes a place');
  t.strictSame(
    posting.events.map(({ model }) => model),
    ['acme/scarce', 'acme/other', 'acme/late', 'acme/free'],
  );
});

t.test('bodies of the wrong type and size take no place', async (t) => {
  const posting = await startPosting({ catalog: JSON.stringify({ models: { 'acme/chat': row('chat') } }) });
  t.teardown(() => posting.gateway.stop());
  const start = `{"model":"acme/chat","messages":"${padding}`;
  const typed = await (await begin(posting, '/chat/completions', 'text/plain', start)).response();
  t.equal(typed.status, 400);
  const port = Number(new URL(posting.gateway.url).port);
  const large = (await RawClient.connect(port)).send(
    `POST /v1/tokenize HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${posting.gateway.key}\r\ncontent-type: ${json}\r\ncontent-length: 5000000\r\n\r\n${start}`,
  );
  t.equal((await large.response()).status, 413);
  t.equal(posting.gateway.ports.admission.stats().admitted, 0);
});

t.test('chunked bodies', async (t) => {
  const posting = await startPosting({ catalog: JSON.stringify({ models: { 'acme/chat': row('chat') } }) });
  t.teardown(() => posting.gateway.stop());
  const send = async (text: string, end: string) => {
    const client = await RawClient.connect(Number(new URL(posting.gateway.url).port));
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${posting.gateway.key}\r\ncontent-type: ${json}\r\ntransfer-encoding: chunked\r\n\r\n`;
    return client.send(`${head}${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n${end}`);
  };
  const wrong = await (await send('{"model":"acme/chat","messages":5}', '0\r\n\r\n')).response();
  t.equal(wrong.status, 400, 'a small one is read before admission');
  const first = await send(`{"model":"acme/chat","messages":"${padding}`, '');
  await running(posting, 1);
  first.socket.destroy();
  await running(posting, 0);
  const second = await (await send(`{"model":"acme/chat","messages":"${padding}`, '')).response();
  t.equal(second.status, 429, second.body);
});

t.test('requests that name their model late are limited together', async (t) => {
  const posting = await startPosting({
    catalog: JSON.stringify({
      models: {
        'acme/one': row('chat', { concurrency: 4, requests_per_minute: 2 }),
        'acme/two': row('chat'),
        'acme/embed': row('embedding', { concurrency: 4, requests_per_minute: 100 }),
      },
    }),
  });
  t.teardown(() => posting.gateway.stop());
  for (let started = 1; started <= 3; started++) {
    const client = await begin(posting, '/chat/completions', json, `{"messages":"${padding}`);
    await running(posting, 1);
    client.socket.destroy();
    await running(posting, 0);
  }
  const refused = await (await begin(posting, '/responses', json, `{"input":"${padding}`)).response();
  t.equal(refused.status, 429);
  t.equal(
    messageOf(refused.body),
    'Rate limit reached for chat models that are not named in the first 64 KiB of a request: 3 requests per minute',
  );
  const embedding = await begin(posting, '/embeddings', json, `{"input":"${padding}`);
  await running(posting, 1);
  t.equal(embedding.total, 0, 'models of another kind are counted apart');
  embedding.socket.destroy();
  await running(posting, 0);
});

t.test('limits of a subscription hold for them as well', async (t) => {
  const asked: AdmissionRequest[] = [];
  const admission = withOwnLimits(
    {
      admit: (request) => {
        asked.push(request);
        return { waited: 0, release: () => {} };
      },
      stats: () => t.fail('not needed') as never,
      check: async () => {},
      close: async () => {},
    },
    {
      of: (_, model, usual) => (model === 'a' ? { ...usual, requests_per_minute: 7 } : usual),
      countsTokens: false,
      close: async () => {},
    },
  );
  const anyOf = ['a', 'b'].map((id) => ({ id, limits: { concurrency: 2, requests_per_minute: 100 } }));
  const request = {
    subscription: 's',
    model: 'late',
    limits: { concurrency: 4, requests_per_minute: 200 },
    anyOf,
  };
  admission.admit(request);
  t.strictSame(asked, [{ ...request, limits: { concurrency: 4, requests_per_minute: 107 } }]);
});

t.test('a large body waits for its slot unread', async (t) => {
  const posting = await startPosting({
    catalog: JSON.stringify({
      models: { 'acme/chat': row('chat', { concurrency: 1, requests_per_minute: 10 }) },
    }),
  });
  t.teardown(() => posting.gateway.stop());
  const start = `{"model":"acme/chat","x":"${padding}`;
  const first = await begin(posting, '/chat/completions', json, start);
  await running(posting, 1);
  const rest = `","messages":[{"role":"user","content":"/sim tokens=2"}]}`;
  const second = await begin(posting, '/chat/completions', json, start);
  await eventually(() => posting.gateway.ports.admission.stats().waiting === 1, 'it waits');
  second.send(rest.padStart(length - start.length, 'a'));
  first.socket.destroy();
  const { status, body } = await second.response();
  t.equal(status, 200, body);
  await running(posting, 0);
});
