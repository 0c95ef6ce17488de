/** Tests what REDIS_URL and the settings beside it mean, and that each mistake is named. */
import { join } from 'node:path';
import t from 'tap';
import { placeName, redisSettings } from '../../src/adapters/redis-settings.ts';
import { loadConfig } from '../../src/config.ts';

const port = 6379;

t.test('addresses', async (t) => {
  t.equal(redisSettings({}), undefined);
  t.equal(redisSettings({ REDIS_URL: ' ' }), undefined);
  const server = { host: 'h', port: 7000 };
  const cases: [string, object, string][] = [
    [
      'redis://h:7000',
      { place: { topology: 'server', host: server, db: 0 }, user: {}, tls: undefined },
      'h:7000',
    ],
    ['redis://h:7000/3', { place: { topology: 'server', host: server, db: 3 } }, 'h:7000'],
    ['redis://h', { place: { host: { host: 'h', port } } }, 'h:6379'],
    ['redis://[::1]:7000/', { place: { host: { host: '::1', port: 7000 }, db: 0 } }, '[::1]:7000'],
    ['rediss://h', { place: { topology: 'server' }, tls: {} }, 'h:6379'],
    ['redis://:p%40ss@h', { user: { password: 'p@ss' } }, 'h:6379'],
    ['redis://me:p:w@h', { user: { username: 'me', password: 'p:w' } }, 'h:6379'],
    [
      'unix:///run/redis.sock?db=2',
      { place: { topology: 'socket', path: '/run/redis.sock', db: 2 } },
      '/run/redis.sock',
    ],
    [
      'redis://me:pw@a:1,b,[::2]:3',
      {
        place: {
          topology: 'cluster',
          seeds: [
            { host: 'a', port: 1 },
            { host: 'b', port },
            { host: '::2', port: 3 },
          ],
        },
        user: { username: 'me', password: 'pw' },
      },
      'a:1,b:6379,[::2]:3',
    ],
    [
      'rediss+cluster://a',
      { place: { topology: 'cluster', seeds: [{ host: 'a', port }] }, tls: {} },
      'a:6379',
    ],
    [
      'redis+sentinel://:pw@a,b:2/main/1',
      {
        place: {
          topology: 'sentinel',
          sentinels: [
            { host: 'a', port: 26_379 },
            { host: 'b', port: 2 },
          ],
          name: 'main',
          db: 1,
          sentinelUser: {},
        },
        user: { password: 'pw' },
        tls: undefined,
      },
      'main of a:26379,b:2',
    ],
  ];
  for (const [url, expected, name] of cases) {
    const settings = redisSettings({ REDIS_URL: url });
    t.match(settings, { ...expected, waitReplicas: 0 }, url);
    t.equal(settings && placeName(settings), name);
  }
});

t.test('settings beside it', async (t) => {
  const folder = t.testdir({ 'ca.pem': 'CA', 'cert.pem': 'CERT', 'key.pem': 'KEY' });
  const file = (name: string) => join(folder, name);
  const url = { REDIS_URL: 'rediss+sentinel://a/main' };
  t.match(
    loadConfig({
      ...url,
      REDIS_CA_FILE: file('ca.pem'),
      REDIS_CERT_FILE: file('cert.pem'),
      REDIS_KEY_FILE: file('key.pem'),
      REDIS_SENTINEL_USERNAME: 'watch',
      REDIS_SENTINEL_PASSWORD: 'secret',
      REDIS_WAIT_REPLICAS: '2',
    }).redis,
    {
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
      place: { sentinelUser: { username: 'watch', password: 'secret' } },
      waitReplicas: 2,
    },
  );
  const wrong: [object, string][] = [
    [
      { ...url, REDIS_CERT_FILE: file('cert.pem') },
      'REDIS_CERT_FILE and REDIS_KEY_FILE must be set together',
    ],
    [{ ...url, REDIS_CA_FILE: file('none') }, `REDIS_CA_FILE names ${file('none')}, which does not exist`],
    [
      { REDIS_URL: 'redis://a', REDIS_CA_FILE: file('ca.pem') },
      'REDIS_CA_FILE, REDIS_CERT_FILE and REDIS_KEY_FILE need a REDIS_URL with rediss',
    ],
    [
      { REDIS_URL: 'redis://a', REDIS_WAIT_REPLICAS: '9' },
      'REDIS_WAIT_REPLICAS must be a whole number from 0 to 5, not "9"',
    ],
  ];
  for (const [env, message] of wrong)
    t.throws(() => loadConfig({ ...env }), { name: 'ConfigError', message });
});

t.test('mistakes', async (t) => {
  const cases: [string, string][] = [
    [
      'http://h',
      'REDIS_URL must be an address starting with redis://, rediss://, redis+cluster://, redis+sentinel:// (both also with rediss) or unix://',
    ],
    ['redis://', 'REDIS_URL must name hosts such as redis-1:6379 with commas between, not ""'],
    ['redis://a,,b', 'REDIS_URL must name hosts such as redis-1:6379 with commas between, not ""'],
    ['redis://a:0', 'REDIS_URL must name hosts such as redis-1:6379 with commas between, not "a:0"'],
    ['redis://a:99999', 'REDIS_URL must name hosts such as redis-1:6379 with commas between, not "a:99999"'],
    ['redis://a/main', 'REDIS_URL must name a database by its number, not "main"'],
    ['redis://a/1/2', 'REDIS_URL has too many slashes after the host'],
    ['redis://a?db=1', 'REDIS_URL takes no parameters after a question mark'],
    ['redis://a,b/1', 'REDIS_URL names a database, and a cluster has only database 0'],
    ['redis://me:%zz@a', 'REDIS_URL has a % that is not followed by two hexadecimal digits'],
    [
      'redis+sentinel://a',
      'REDIS_URL with sentinels must end with the name of the primary, as in …:26379/mymaster',
    ],
    [
      'unix://host/path',
      'REDIS_URL with unix:// must go on with the path of a socket, as in unix:///run/redis.sock',
    ],
    ['unix:///path?x=1', 'REDIS_URL with unix:// takes no parameter but db'],
  ];
  for (const [url, message] of cases)
    t.throws(() => loadConfig({ REDIS_URL: url }), { name: 'ConfigError', message }, url);
});
