/** Tests engines whose replicas are found: a list that is replaced under load, names in certificates, rows that cannot work. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createEngine, type RunningEngine } from '../../src/engines/engine.ts';
import { ask, silent } from '../engines/collect.ts';
import { type ReceivedRequest, startScriptedEngine } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { startNameServer } from '../media/name-server.ts';

const openEngine = (t: Test, replicas: string, change: { dns?: object; ca_file?: string } = {}) => {
  const { dns, ...row } = change;
  const engine = createEngine(
    'pool-a',
    { wire: 'openai', replicas, ...row },
    { log: silent, env: {}, discovery: { fileInterval: 20, ...(dns && { dns }) } },
  );
  t.teardown(() => engine.close());
  return engine;
};

const isHealthy = (engine: RunningEngine, replicas: number) =>
  eventually(() => engine.stats().replicas.length === replicas, `${replicas} replicas`, 20);

t.test('replicas are replaced under load and no request fails', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replicas-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'replicas.yaml');
  const serve = (urls: readonly string[]): void => {
    writeFileSync(`${file}.new`, urls.map((url) => `- { url: '${url}', weight: 2 }\n`).join(''));
    renameSync(`${file}.new`, file);
  };
  const slowly = async (request: ReceivedRequest): Promise<void> => {
    await pause(10 + (request.number % 20));
    request.answer();
  };
  const engines = await Promise.all([0, 1, 2, 3].map(() => startScriptedEngine(slowly)));
  t.teardown(() => Promise.all(engines.map((engine) => engine.close())));
  const urls = engines.map(({ url }) => url);

  const engine = openEngine(t, `file:${file}`);
  t.equal(engine.health(), 'down', 'without its file it has no replicas');
  t.match((await ask(engine)).error, ['unavailable', 'The model is unavailable, try again']);
  serve(urls.slice(0, 2));
  await isHealthy(engine, 2);

  let running = true;
  const failures: unknown[] = [];
  const client = async (): Promise<number> => {
    let answers = 0;
    while (running) {
      const { error } = await ask(engine);
      if (error === undefined) answers++;
      else failures.push(error);
    }
    return answers;
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  for (const [one, other] of [
    [1, 2],
    [2, 3],
    [3, 0],
    [0, 1],
  ] as const) {
    const former = engine.stats().replicas.map(({ url }) => url);
    serve([urls[one] ?? '', urls[other] ?? '']);
    await eventually(
      () => engine.stats().replicas.some(({ url }) => !former.includes(url)),
      'the list is in force',
      20,
    );
    await pause(100);
  }
  // Refused: what was there stays.
  writeFileSync(file, '- not an address\n');
  await pause(100);
  running = false;
  const answers = (await clients).reduce((sum, each) => sum + each, 0);
  t.strictSame(failures, []);
  t.ok(answers > 50, `${answers} answers`);
  for (const [index, each] of engines.entries()) t.ok(each.requests.length > 0, `replica ${index} was used`);
  t.strictSame(
    engine.stats().replicas.map(({ url }) => url),
    [urls[0], urls[1]],
  );
});

t.test('a replica found by name is called by that name, in TLS too', async (t) => {
  const pem = (name: string) => new URL(`../fixtures/media-tls/${name}.pem`, import.meta.url);
  const tls = { key: readFileSync(pem('key')), cert: readFileSync(pem('certificate')) };
  const replica = await startScriptedEngine((request) => request.answer(), tls);
  const names = await startNameServer({ 'media.test': { a: ['127.0.0.1'], ttl: 1 } });
  t.teardown(() => Promise.all([replica.close(), names.close()]));
  const { port } = new URL(replica.url);
  const dns = { servers: [names.address], search: () => ({ domains: [], dots: 1 }) };
  const engine = openEngine(t, `dns+https://media.test:${port}/v1`, {
    dns,
    ca_file: pem('certificate').pathname,
  });
  await isHealthy(engine, 1);
  t.equal((await ask(engine)).error, undefined);
  const [request] = replica.requests;
  t.match(request?.head, `host: media.test:${port}\r\n`);
  t.match(request?.socket, { servername: 'media.test' });
});

t.test('sources that cannot work are refused by name', async (t) => {
  t.throws(() => openEngine(t, 'vllm:8000'), {
    message: /^engines\.pool-a\.replicas must be a list of addresses, or a source such as dns\+http/,
  });
  t.throws(() => openEngine(t, 'k8s+http://vllm.default/v1'), {
    message: 'engines.pool-a.replicas needs a Kubernetes cluster: KUBERNETES_SERVICE_HOST is not set',
  });
});
