/** Tests encrypted connections, client certificates, users and socket files. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { RedisAllowances } from '../../src/adapters/allowances/redis.ts';
import { type RedisSettings, redisSettings } from '../../src/adapters/redis-settings.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { readPersistence } from '../../src/adapters/state/redis-persistence.ts';
import { Client, request } from '../admission/client.ts';
import { period, reserved } from '../contracts/allowances.ts';
import { aloneProcess, openStreams } from '../contracts/redis.ts';
import { eventually } from '../eventually.ts';
import { end, freePort } from '../services/child.ts';
import { launchRedis, redisMissing } from '../services/redis.ts';

/** As docs/scaling.md has them. */
const rights = [
  ...[
    '~sluice:*',
    '&sluice:*',
    '+@read',
    '+@write',
    '+@pubsub',
    '+@scripting',
    '+@connection',
    '+@transaction',
  ],
  ...['+info', '+time', '+wait', '+cluster|slots', '+cluster|info'],
];
const skip = redisMissing({ own: true }) ?? false;

const quiet = {
  pause: () => {},
  resume: () => {},
  cancel: () => {},
  fail: () => {},
  live: () => {
    throw new Error('no request');
  },
};

t.test('one server', { skip }, async (t) => {
  const folder = t.testdir({});
  const file = (name: string) => join(folder, name);
  const certificate = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=sluice-test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const out = ['-keyout', file('key.pem'), '-out', file('cert.pem')];
  execFileSync('openssl', [...certificate, ...subject, ...out], { stdio: 'ignore' });
  const [plain, secure] = [await freePort(), await freePort()];
  const socket = file('redis.sock');
  const server = await launchRedis(plain, folder, {}, [
    ...['--tls-port', `${secure}`, '--tls-cert-file', file('cert.pem'), '--tls-key-file', file('key.pem')],
    ...['--tls-ca-cert-file', file('cert.pem'), '--tls-auth-clients', 'yes'],
    ...['--user', 'gateway', 'on', '>p@ss', ...rights, '--unixsocket', socket],
  ]);
  t.teardown(() => end(server, 'SIGKILL'));
  const trust = { REDIS_CA_FILE: file('cert.pem') };
  const own = { ...trust, REDIS_CERT_FILE: file('cert.pem'), REDIS_KEY_FILE: file('key.pem') };

  const use = async (env: Record<string, string>): Promise<boolean> => {
    const state = openRedisState(redisSettings(env) as RedisSettings, { patience: 1_000 });
    try {
      return await state.create('kind', { id: String(Math.random()), owner: 'o', value: 1 });
    } finally {
      await state.close();
    }
  };

  t.equal(await use({ REDIS_URL: `redis://gateway:p%40ss@127.0.0.1:${plain}` }), true, 'a user');
  t.equal(await use({ REDIS_URL: `unix://gateway:p%40ss@${socket}?db=3` }), true, 'a socket file');
  t.equal(await use({ REDIS_URL: `rediss://gateway:p%40ss@127.0.0.1:${secure}`, ...own }), true, 'TLS');
  await t.test('all adapters, with no more rights than are needed', async (t) => {
    const url = `redis://gateway:p%40ss@127.0.0.1:${plain}`;
    const admission = createRedisAdmission(url, {});
    const allowances = new RedisAllowances(url, aloneProcess());
    const streams = await openStreams(url, 'sluice:', t.testdir());
    t.teardown(() => Promise.all([admission.close(), allowances.close(), streams.close()]));
    await Promise.all([admission.check(), allowances.check()]);
    t.equal(await new Client(admission, request()).result(), 'admitted');
    const budget = { allowance: period('sub_1/budget', 10), amount: 1 };
    t.equal((await reserved(allowances, 'req_1', [budget])).left(0), 9);
    await allowances.abandoned();
    await eventually(() => admission.stats().shared && admission.stats().replicas === 1, 'heartbeats');
    const log = streams.open({ id: 'one', subscription: 'sub_1', graceMs: 1_000, source: quiet });
    await log.publish();
    t.equal(await readPersistence(url), 'unknown', 'CONFIG is not needed');
  });
  const message = (words: string) => new RegExp(`^Redis at 127\\.0\\.0\\.1:\\d+ cannot be used: .*${words}`);
  await t.rejects(use({ REDIS_URL: `redis://gateway:wrong@127.0.0.1:${plain}` }), {
    kind: 'unavailable',
    cause: { message: message('WRONGPASS') },
  });
  await t.rejects(use({ REDIS_URL: `rediss://127.0.0.1:${secure}` }), {
    cause: { message: message('self-signed certificate') },
  });
  await t.rejects(use({ REDIS_URL: `rediss://127.0.0.1:${secure}`, ...trust }), {
    name: 'ApiError',
    kind: 'unavailable',
  });
});
