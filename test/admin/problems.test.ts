/** Tests what the admin API says of models and engines in trouble, and their rows of `sluice.yaml`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { mergedEngine } from '../../src/admin/resources/engines.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf } from './client.ts';

const folder = t.testdir({ 'replicas.json': '["http://127.0.0.1:1/v1"]' });
const file = join(folder, 'replicas.json');
const server = await startSimulatorServer();
const { url } = server;
const gateway = await startGateway({
  env: adminEnv,
  catalog: `
engines:
  pool:
    wire: openai
    replicas: ['${url}']
    headers: { x-secret: hush }
    retries: { backoff: 5s }
    circuit_breaker: { connection_failures: 1, cooldown: 20s }
  found: { wire: openai, replicas: 'file:${file}' }
models:
  a/chat: { engine: pool, served_as: simulator, context_length: 65536, pricing: { prompt: '1', completion: '1' } }
  a/free: { engine: simulator, context_length: 65536 }
  a/off: { engine: found, served: false, context_length: 65536, pricing: { prompt: '1', completion: '1' } }
`,
});
t.teardown(() => gateway.stop());
const call = adminOf(gateway);
const get = async (path: string) => (await call('GET', path)).body;

t.test('rows have their defaults, and no secrets', async (t) => {
  const { row, models, problems } = await get('/engines/pool');
  t.strictSame([models, problems], [['a/chat'], []]);
  t.match(row, {
    ...{ wire: 'openai', replicas: [url], balance: 'prefix', headers: { 'x-secret': '(hidden)' } },
    retries: { attempts: 3, backoff: '5s', max_backoff: '5s' },
    circuit_breaker: { connection_failures: 1, server_failures: 5, cooldown: '20s', max_cooldown: '30s' },
  });
  t.notMatch(JSON.stringify(await get('/engines/pool')), 'hush');
  t.strictSame((await get('/engines/simulator')).row, null);
  const model = await get('/models/a%2Fchat');
  t.match(model, {
    ...{ id: 'a/chat', object: 'model', health: 'ok', in_service: true, problems: [] },
    row: { id: 'a/chat', engine: 'pool', served_as: 'simulator', tokenizer: 'o200k_base', served: true },
  });
  t.equal((await call('GET', '/models/a%2Fnone')).status, 404);
});

t.test('models without a price, and not in service', async (t) => {
  t.strictSame((await get('/models/a%2Ffree')).problems, ['It has no price: requests cost nothing']);
  t.match(await get('/models/a%2Foff'), {
    ...{ in_service: false, problems: ['It is not served: its row has served: false'] },
  });
  const listed = (await get('/models')).data;
  t.strictSame(
    listed.map(({ id, problems }: { id: string; problems: string[] }) => [id, problems.length]),
    [
      ['a/chat', 0],
      ['a/free', 1],
    ],
  );
});

t.test('a list of replicas that cannot be read', async (t) => {
  t.equal((await get('/engines/found')).discovery, null);
  writeFileSync(file, 'nonsense: [');
  const found = await eventually(async () => {
    const engine = await get('/engines/found');
    return engine.discovery !== null && engine;
  }, 'the file is read again');
  t.match(found.problems, [/^Its replicas cannot be asked for, so the known ones stay: ./]);
  t.equal(found.replicas.length, 1);
  writeFileSync(file, '["http://127.0.0.1:2/v1"]');
  await eventually(async () => (await get('/engines/found')).discovery === null, 'it is good again');
});

t.test('a replica that is gone', async (t) => {
  await server.close();
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'a/chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.ok(response.status >= 500);
  await response.text();
  const { health, replicas, problems } = await get('/engines/pool');
  t.match(replicas, [
    {
      circuit: 'open',
      open_since: Number,
      cooldown_ms: Number,
      last_error: { time: Number, message: String },
    },
  ]);
  t.ok(replicas[0].cooldown_ms > 0 && replicas[0].open_since <= Date.now());
  t.equal(health, 'down');
  t.equal(problems[0], 'None of its replicas takes calls');
  t.match(
    problems[1],
    /^Replica pool\/0 \(http:\S+\): its circuit is open since [\d-]+T[\d:.]+Z, a trial call in \d+ ms; the last error was: .*ECONN/,
  );
  t.strictSame((await get('/models/a%2Fchat')).problems, [
    'None of the replicas of its engine "pool" takes calls',
  ]);
});

t.test('a replica that one process can call is up for all', async (t) => {
  const { row: _, models: __, ...engine } = await get('/engines/pool');
  const [replica] = engine.replicas;
  const fine = {
    ...engine,
    ...{ health: 'ok', problems: [], prefix: { blocks: 3, matched: 1, hit_rate: 0.333 } },
    replicas: [{ ...replica, circuit: 'closed', open_since: null, cooldown_ms: 0, in_flight: 2, share: 0.5 }],
  };
  t.match(mergedEngine([engine, fine]), {
    ...{ health: 'ok', problems: [], prefix: { blocks: 3, matched: 1, hit_rate: 0.333 } },
    replicas: [{ circuit: 'closed', open_since: null, in_flight: 2, share: 0.5, last_error: Object }],
  });
  t.match(mergedEngine([engine, engine]), { health: 'down', problems: engine.problems });
});
