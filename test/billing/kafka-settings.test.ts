/** Tests the settings of Kafka: what the environment says, and the sentence for each mistake. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { kafkaSettings } from '../../src/adapters/events/kafka-settings.ts';
import { ConfigError } from '../../src/environment.ts';

const file = join(t.testdir(), 'file.pem');
writeFileSync(file, '');
const brokers = { KAFKA_BROKERS: 'a:9092, b.example:9093' };
const plain = { brokers: ['a:9092', 'b.example:9093'], prefix: 'sluice' };
const nothing = { tls: undefined, sasl: undefined, replicas: undefined };
const oauth = { ...brokers, KAFKA_TLS: '1', KAFKA_SASL: 'oauthbearer' };
const endpoint = {
  ...oauth,
  KAFKA_OAUTH_TOKEN_URL: 'https://login.example/token',
  KAFKA_OAUTH_CLIENT_ID: 'id',
  KAFKA_OAUTH_CLIENT_SECRET: 's3cret',
};

t.test('no brokers, no Kafka', async (t) => t.equal(kafkaSettings({ KAFKA_TLS: '1' }), undefined));

t.test('settings', async (t) => {
  const rows: [Record<string, string>, object][] = [
    [brokers, { ...plain, ...nothing }],
    [
      { ...brokers, KAFKA_PREFIX: 'cell-1', KAFKA_REPLICAS: '2' },
      { ...plain, ...nothing, prefix: 'cell-1', replicas: 2 },
    ],
    [
      { ...brokers, KAFKA_TLS: '1' },
      { ...plain, ...nothing, tls: { caFile: undefined } },
    ],
    [
      { ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CA: file, KAFKA_TLS_CERT: file, KAFKA_TLS_KEY: file },
      { ...plain, ...nothing, tls: { caFile: file, client: { certFile: file, keyFile: file } } },
    ],
    [
      { ...brokers, KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' },
      { ...plain, ...nothing, sasl: { mechanism: 'plain', username: 'u', password: 'p' } },
    ],
    [
      { ...brokers, KAFKA_SASL: 'scram-sha-512', KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' },
      { ...plain, ...nothing, sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' } },
    ],
    [
      { ...oauth, KAFKA_OAUTH_TOKEN_FILE: file },
      {
        ...plain,
        ...nothing,
        tls: { caFile: undefined },
        sasl: { mechanism: 'oauthbearer', tokens: { file } },
      },
    ],
    [
      { ...endpoint, KAFKA_OAUTH_SCOPE: 'kafka' },
      {
        ...plain,
        ...nothing,
        tls: { caFile: undefined },
        sasl: {
          mechanism: 'oauthbearer',
          tokens: {
            url: 'https://login.example/token',
            clientId: 'id',
            clientSecret: 's3cret',
            scope: 'kafka',
          },
        },
      },
    ],
  ];
  for (const [env, expected] of rows) t.strictSame(kafkaSettings(env), expected, Object.keys(env).join(' '));
});

t.test('mistakes', async (t) => {
  const rows: [Record<string, string>, string][] = [
    [
      { KAFKA_BROKERS: 'a' },
      'KAFKA_BROKERS must be addresses such as host:9092 with commas between, not "a"',
    ],
    [
      { KAFKA_BROKERS: '[::1]:9092' },
      'KAFKA_BROKERS must be addresses such as host:9092 with commas between, not "[::1]:9092"',
    ],
    [
      { ...brokers, KAFKA_PREFIX: 'a b' },
      'KAFKA_PREFIX must be letters, digits, dots, dashes and underscores',
    ],
    [{ ...brokers, KAFKA_REPLICAS: '0' }, 'KAFKA_REPLICAS must be a whole number from 1 to 100, not "0"'],
    [{ ...brokers, KAFKA_TLS: 'yes' }, 'KAFKA_TLS must be 1 or 0, not "yes"'],
    [{ ...brokers, KAFKA_TLS_CA: file }, 'KAFKA_TLS_CA needs KAFKA_TLS=1'],
    [
      { ...brokers, KAFKA_TLS: '1', KAFKA_TLS_CA: '/nowhere/ca.pem' },
      'KAFKA_TLS_CA names /nowhere/ca.pem, which does not exist',
    ],
    [
      { ...brokers, KAFKA_TLS: '1', KAFKA_TLS_CERT: file },
      'KAFKA_TLS_CERT and KAFKA_TLS_KEY must be set together',
    ],
    [
      { ...brokers, KAFKA_SASL: 'gssapi' },
      'KAFKA_SASL must be one of plain, scram-sha-256, scram-sha-512, oauthbearer, not "gssapi"',
    ],
    [
      { ...brokers, KAFKA_SASL: 'scram-sha-256' },
      'KAFKA_SASL=scram-sha-256 needs KAFKA_USERNAME and KAFKA_PASSWORD',
    ],
    [{ ...brokers, KAFKA_USERNAME: 'u' }, 'KAFKA_USERNAME and KAFKA_PASSWORD must be set together'],
    [
      { ...brokers, KAFKA_SASL: 'oauthbearer', KAFKA_OAUTH_TOKEN_FILE: file },
      'KAFKA_SASL=oauthbearer needs KAFKA_TLS=1: whoever reads a token can use it',
    ],
    [oauth, 'KAFKA_SASL=oauthbearer needs either KAFKA_OAUTH_TOKEN_FILE or KAFKA_OAUTH_TOKEN_URL'],
    [
      { ...endpoint, KAFKA_OAUTH_TOKEN_FILE: file },
      'KAFKA_SASL=oauthbearer needs either KAFKA_OAUTH_TOKEN_FILE or KAFKA_OAUTH_TOKEN_URL',
    ],
    [
      { ...oauth, KAFKA_OAUTH_TOKEN_FILE: '/nowhere' },
      'KAFKA_OAUTH_TOKEN_FILE names /nowhere, which does not exist',
    ],
    [
      { ...endpoint, KAFKA_OAUTH_TOKEN_URL: 'ftp://login.example' },
      'KAFKA_OAUTH_TOKEN_URL must be an address starting with https:// or http://',
    ],
    [
      { ...endpoint, KAFKA_OAUTH_TOKEN_URL: 'http://login.example/token' },
      'KAFKA_OAUTH_TOKEN_URL must start with https://, except on this machine',
    ],
    [
      { ...endpoint, KAFKA_OAUTH_TOKEN_URL: 'https://u:p@login.example/token' },
      'KAFKA_OAUTH_TOKEN_URL must be without a user: set KAFKA_OAUTH_CLIENT_ID',
    ],
    [
      { ...endpoint, KAFKA_OAUTH_CLIENT_SECRET: ' ' },
      'KAFKA_OAUTH_TOKEN_URL needs KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET',
    ],
  ];
  for (const [env, sentence] of rows) t.throws(() => kafkaSettings(env), new ConfigError(sentence), sentence);
});
