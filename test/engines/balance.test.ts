/** Tests balancing at the socket: several engines behind a gateway, conversations and sessions through it. */
import t from 'tap';
import { startGateway, type TestGateway } from '../gateway.ts';
import { servers } from '../http/servers.ts';
import { type ScriptedEngine, startScriptedEngine } from './scripted-engine.ts';

type Message = { readonly role: string; readonly content: unknown };

const behind = async (
  t: { teardown(work: () => Promise<void>): void },
  row: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly gateway: TestGateway; readonly engines: readonly ScriptedEngine[] }> => {
  const engines = await Promise.all(
    Array.from({ length: 4 }, () => startScriptedEngine((request) => request.answer('Yes.'))),
  );
  const gateway = await startGateway({
    env,
    catalog: `
engines:
  pool: { wire: openai, replicas: [${engines.map(({ url }) => `'${url}'`).join(', ')}] ${row} }
models:
  far/chat: { engine: pool, served_as: chat, context_length: 131072 }
`,
  });
  t.teardown(async () => {
    await gateway.stop();
    await Promise.all(engines.map((engine) => engine.close()));
  });
  return { gateway, engines };
};

const post = async (
  { url, key }: TestGateway,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: 'far/chat', stream: true, ...body }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
};

/** Which engines have received how many requests since. */
const visits = (engines: readonly ScriptedEngine[], before: readonly number[] = []): readonly number[] =>
  engines.map((engine, index) => engine.requests.length - (before[index] ?? 0));

const text = (name: string, length: number): string => `${name} spoke. `.repeat(length).slice(0, length);

t.test(
  'prefix: the turns of a conversation meet the same engine, and conversations are spread',
  async (t) => {
    const { gateway, engines } = await behind(t, '', { SLUICE_ADMIN_PORT: '0' });
    const homes = new Set<number>();
    for (let chat = 0; chat < 12; chat++) {
      const before = visits(engines);
      const messages: Message[] = [{ role: 'system', content: text('The system', 700) }];
      for (let turn = 0; turn < 4; turn++) {
        messages.push({ role: 'user', content: text(`User ${chat} in turn ${turn}`, 900) });
        await post(gateway, '/chat/completions', { messages });
        messages.push({ role: 'assistant', content: 'Yes.' });
      }
      const after = visits(engines, before);
      t.equal(Math.max(...after), 4, `all four turns on one engine: ${after.join(' ')}`);
      homes.add(after.indexOf(4));
    }
    t.ok(homes.size > 1, `${homes.size} engines have conversations`);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const value = (name: string): number =>
      Number(new RegExp(`^${name}\\{engine="pool"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
    const [blocks, matched] = [
      value('sluice_engine_prompt_blocks_total'),
      value('sluice_engine_prompt_blocks_matched_total'),
    ];
    t.equal(blocks, 12 * (3 + 4 + 6 + 8));
    t.ok(matched >= 12 * (0 + 3 + 4 + 6), `${matched} of ${blocks} blocks were matched`);
  },
);

t.test('prefix: other formats, pictures and text completions', async (t) => {
  const { gateway, engines } = await behind(t, ', balance: prefix');
  const long = text('Once', 3000);
  for (const [path, body] of [
    ['/messages', { max_tokens: 9, messages: [{ role: 'user', content: long }] }],
    ['/responses', { input: long }],
    ['/completions', { prompt: long }],
  ] as const) {
    const before = visits(engines);
    for (let count = 0; count < 5; count++) await post(gateway, path, body);
    t.strictSame(visits(engines, before).toSorted(), [0, 0, 0, 5], path);
  }
  const before = visits(engines);
  for (let count = 0; count < 8; count++)
    await post(gateway, '/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] });
  t.strictSame(visits(engines, before), [2, 2, 2, 2], 'short prompts go to the least busy');
});

t.test('least-busy: prompts do not matter', async (t) => {
  const { gateway, engines } = await behind(t, ', balance: least-busy');
  for (let count = 0; count < 8; count++)
    await post(gateway, '/chat/completions', { messages: [{ role: 'user', content: text('Same', 3000) }] });
  t.strictSame(visits(engines), [2, 2, 2, 2]);
});

for (const { name, skip, edge } of servers.map((server) => ({ ...server, edge: server.name })))
  t.test(`session: by a header, on ${name}`, { skip }, async (t) => {
    const row = ', balance: session, session: { header: X-Session-Id }';
    const { gateway, engines } = await behind(t, row, { SLUICE_EDGE: edge });
    const messages = [{ role: 'user', content: 'Hi' }];
    const homes = new Set<number>();
    for (let session = 0; session < 10; session++) {
      const before = visits(engines);
      for (let count = 0; count < 3; count++)
        await post(gateway, '/chat/completions', { messages }, { 'x-session-id': `session ${session}` });
      const after = visits(engines, before);
      t.strictSame(after.toSorted(), [0, 0, 0, 3]);
      homes.add(after.indexOf(3));
    }
    t.ok(homes.size > 1, `${homes.size} engines have sessions`);
    const before = visits(engines);
    for (let count = 0; count < 8; count++) await post(gateway, '/chat/completions', { messages });
    t.strictSame(visits(engines, before), [2, 2, 2, 2], 'calls without one go to the least busy');
  });

t.test('session: by a field of the body, also inside an object', async (t) => {
  for (const [field, bodyOf] of [
    ['user', (name: string) => ({ user: name })],
    ['metadata.session_id', (name: string) => ({ metadata: { session_id: name } })],
  ] as const) {
    const { gateway, engines } = await behind(t, `, balance: session, session: { field: ${field} }`);
    const messages = [{ role: 'user', content: 'Hi' }];
    for (let session = 0; session < 6; session++) {
      const before = visits(engines);
      for (let count = 0; count < 3; count++)
        await post(gateway, '/chat/completions', { messages, ...bodyOf(`session ${session}`) });
      t.strictSame(visits(engines, before).toSorted(), [0, 0, 0, 3], field);
    }
    const before = visits(engines);
    for (const odd of ['', ' '.repeat(3)])
      await post(gateway, '/chat/completions', { messages, ...bodyOf(odd) });
    t.equal(
      visits(engines, before).reduce((sum, each) => sum + each),
      2,
      'odd values are no error',
    );
  }
});

t.test(
  'rolling replacement: all replicas are replaced one by one under load, and no request fails',
  async (t) => {
    const { gateway, engines } = await behind(t, ', slow_start: 200ms');
    const fresh = await Promise.all(
      Array.from({ length: 4 }, () => startScriptedEngine((request) => request.answer('Yes.'))),
    );
    t.teardown(async () => void (await Promise.all(fresh.map((engine) => engine.close()))));
    const { writeFileSync, readFileSync } = await import('node:fs');
    let sent = 0;
    let done = false;
    const failures: unknown[] = [];
    const client = async (name: number): Promise<void> => {
      for (let turn = 0; !done; turn++) {
        const content = text(`Client ${name} in turn ${turn % 5}`, 1500);
        await post(gateway, '/chat/completions', { messages: [{ role: 'user', content }] }).catch(
          (error: unknown) => failures.push(error),
        );
        sent++;
      }
    };
    const clients = Array.from({ length: 8 }, (_, name) => client(name));
    const waitFor = async (count: number): Promise<void> => {
      const wanted = sent + count;
      while (sent < wanted) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    for (const [index, engine] of fresh.entries()) {
      await waitFor(30);
      const config = readFileSync(gateway.configFile, 'utf8');
      writeFileSync(gateway.configFile, config.replace(engines[index]?.url ?? '', engine.url));
      gateway.reload();
    }
    await waitFor(60);
    done = true;
    await Promise.all(clients);
    t.strictSame(failures, []);
    const before = visits(engines);
    await post(gateway, '/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] });
    t.strictSame(visits(engines, before), [0, 0, 0, 0], 'the old ones are gone');
    t.ok(
      fresh.every((engine) => engine.requests.length > 0),
      'the new ones are all used',
    );
    t.equal(gateway.logLines.filter(({ msg }) => msg === 'replica joined').length, 4);
    t.equal(gateway.logLines.filter(({ msg }) => msg === 'replica left').length, 4);
  },
);
