/** Tests balancing at the socket: several engines behind a gateway, conversations and sessions through it. */
import t from 'tap';
import { balanceContract, replaceAll } from '../contracts/balance.ts';
import { servers } from '../http/servers.ts';
import { onlyLong, someOf } from '../long.ts';
import { longText, sessionHeader, startBehind, visits } from './replicas-behind.ts';

type Message = { readonly role: string; readonly content: unknown };

const running = servers.filter(({ skip }) => skip === false);
const bySession = `balance: session, session: { header: ${sessionHeader} }`;

t.test('least-busy', async (t) => balanceContract(t, { row: 'balance: least-busy', sticky: false }));
t.test('prefix', { skip: onlyLong }, async (t) =>
  balanceContract(t, { row: 'balance: prefix', sticky: true }),
);
t.test('session', { skip: onlyLong }, async (t) => balanceContract(t, { row: bySession, sticky: true }));

t.test(
  'replicas that a file lists are replaced under load, and no request fails',
  { skip: onlyLong },
  async (t) => {
    await replaceAll(t, await startBehind(t, { row: 'slow_start: 200ms', listed: true }));
  },
);

t.test(
  'prefix: the turns of a conversation meet the same engine, and conversations are spread',
  async (t) => {
    const { gateway, engines, post } = await startBehind(t, { env: { SLUICE_ADMIN_PORT: '0' } });
    const homes = new Set<number>();
    for (let chat = 0; chat < 12; chat++) {
      const before = visits(engines);
      const messages: Message[] = [{ role: 'system', content: longText('The system', 700) }];
      for (let turn = 0; turn < 4; turn++) {
        messages.push({ role: 'user', content: longText(`User ${chat} in turn ${turn}`, 900) });
        await post('/chat/completions', { messages });
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
  const { engines, post } = await startBehind(t, { row: 'balance: prefix' });
  const long = longText('Once', 3000);
  for (const [path, body] of [
    ['/messages', { max_tokens: 9, messages: [{ role: 'user', content: long }] }],
    ['/responses', { input: long }],
    ['/completions', { prompt: long }],
  ] as const) {
    const before = visits(engines);
    for (let count = 0; count < 5; count++) await post(path, body);
    t.strictSame(visits(engines, before).toSorted(), [0, 0, 0, 5], path);
  }
  const before = visits(engines);
  for (let count = 0; count < 8; count++)
    await post('/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] });
  t.strictSame(visits(engines, before), [2, 2, 2, 2], 'short prompts go to the least busy');
});

t.test('least-busy: prompts do not matter', async (t) => {
  const { engines, post } = await startBehind(t, { row: 'balance: least-busy' });
  for (let count = 0; count < 8; count++)
    await post('/chat/completions', { messages: [{ role: 'user', content: longText('Same', 3000) }] });
  t.strictSame(visits(engines), [2, 2, 2, 2]);
});

for (const { name, skip, edge } of someOf(running, 1).map((server) => ({ ...server, edge: server.name })))
  t.test(`session: by a header, on ${name}`, { skip }, async (t) => {
    const row = 'balance: session, session: { header: X-Session-Id }';
    const { engines, post } = await startBehind(t, { row, env: { SLUICE_EDGE: edge } });
    const messages = [{ role: 'user', content: 'Hi' }];
    const homes = new Set<number>();
    for (let session = 0; session < 10; session++) {
      const before = visits(engines);
      for (let count = 0; count < 3; count++)
        await post('/chat/completions', { messages }, { 'x-session-id': `session ${session}` });
      const after = visits(engines, before);
      t.strictSame(after.toSorted(), [0, 0, 0, 3]);
      homes.add(after.indexOf(3));
    }
    t.ok(homes.size > 1, `${homes.size} engines have sessions`);
    const before = visits(engines);
    for (let count = 0; count < 8; count++) await post('/chat/completions', { messages });
    t.strictSame(visits(engines, before), [2, 2, 2, 2], 'calls without one go to the least busy');
  });

t.test('session: by a field of the body, also inside an object', async (t) => {
  for (const [field, bodyOf] of [
    ['user', (name: string) => ({ user: name })],
    ['metadata.session_id', (name: string) => ({ metadata: { session_id: name } })],
  ] as const) {
    const { engines, post } = await startBehind(t, { row: `balance: session, session: { field: ${field} }` });
    const messages = [{ role: 'user', content: 'Hi' }];
    for (let session = 0; session < 6; session++) {
      const before = visits(engines);
      for (let count = 0; count < 3; count++)
        await post('/chat/completions', { messages, ...bodyOf(`session ${session}`) });
      t.strictSame(visits(engines, before).toSorted(), [0, 0, 0, 3], field);
    }
    const before = visits(engines);
    for (const odd of ['', ' '.repeat(3)]) await post('/chat/completions', { messages, ...bodyOf(odd) });
    t.equal(
      visits(engines, before).reduce((sum, each) => sum + each),
      2,
      'odd values are no error',
    );
  }
});
