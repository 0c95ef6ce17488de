/** Tests TLS and SASL against a real broker: who is let in, who is not, and that no secret is logged. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { kafkaSettings } from '../../src/adapters/events/kafka-settings.ts';
import { subscribeKafka } from '../../src/adapters/events/kafka-subscription.ts';
import { eventually } from '../eventually.ts';
import { makeCertificates } from '../services/certificates.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { startSecureKafka } from '../services/kafka-secure.ts';

/** A token that the broker's validator for tests believes: without a signature. */
const tokenFor = (seconds: number): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ sub: 'sluice', iat: now, exp: now + seconds })}.`;
};

t.test('TLS and SASL', { skip: kafkaMissing({ own: true }) ?? false }, async (t) => {
  const folder = t.testdir();
  const certificates = makeCertificates(folder);
  const secret = randomBytes(12).toString('hex');
  const users = {
    plain: { username: 'peter', password: `plain-${secret}` },
    scram: { username: 'susan', password: `scram-${secret}` },
  };
  const kafka = await startSecureKafka(certificates, users);
  t.teardown(() => kafka.stop());

  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
  const prefix = `sluice-test-${randomBytes(4).toString('hex')}`;
  const settingsOf = (env: Record<string, string>) => {
    const settings = kafkaSettings({ KAFKA_PREFIX: prefix, KAFKA_TLS: '1', ...env });
    if (settings === undefined) throw new Error('no brokers');
    return settings;
  };
  const trusting = { KAFKA_TLS_CA: certificates.caFile };
  const sasl = { KAFKA_BROKERS: kafka.sasl, ...trusting };
  const tls = { KAFKA_BROKERS: kafka.tls, ...trusting };
  const { certFile, keyFile } = certificates.client;
  const shown = { KAFKA_TLS_CERT: certFile, KAFKA_TLS_KEY: keyFile };
  const user = (mechanism: string, { username, password }: { username: string; password: string }) => ({
    ...sasl,
    KAFKA_SASL: mechanism,
    KAFKA_USERNAME: username,
    KAFKA_PASSWORD: password,
  });
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, tokenFor(600));
  const byFile = { ...sasl, KAFKA_SASL: 'oauthbearer', KAFKA_OAUTH_TOKEN_FILE: tokenFile };
  const clientSecret = `client-${secret}`;
  const endpoint = createServer((_, response) => {
    response.end(JSON.stringify({ access_token: tokenFor(600), expires_in: 600 }));
  }).listen(0, '127.0.0.1');
  await once(endpoint, 'listening');
  t.teardown(() => endpoint.close());
  const byEndpoint = {
    ...sasl,
    KAFKA_SASL: 'oauthbearer',
    KAFKA_OAUTH_TOKEN_URL: `http://127.0.0.1:${(endpoint.address() as { port: number }).port}/`,
    KAFKA_OAUTH_CLIENT_ID: 'sluice',
    KAFKA_OAUTH_CLIENT_SECRET: clientSecret,
  };

  const accepted: [string, Record<string, string>][] = [
    ['client certificate', { ...tls, ...shown }],
    ['PLAIN', user('plain', users.plain)],
    ['SCRAM-SHA-256', user('scram-sha-256', users.scram)],
    ['SCRAM-SHA-512', user('scram-sha-512', users.scram)],
    ['OAUTHBEARER, token from a file', byFile],
    ['OAUTHBEARER, token from an endpoint', byEndpoint],
  ];
  for (const [name, env] of accepted)
    await t.test(`${name}: events are published and consumed`, async (t) => {
      const settings = settingsOf(env);
      const received: string[] = [];
      const events = createKafkaEvents(settings, log);
      await events.publish('usage', [{ key: 'a', value: name }]);
      const subscription = subscribeKafka({
        settings,
        topic: 'usage',
        group: `group-${randomBytes(4).toString('hex')}`,
        log,
        batch: { bytes: 1, ms: 50 },
        receive: async (messages) => {
          received.push(...messages.map(({ value }) => String(value)));
          return [];
        },
      });
      await eventually(() => received.includes(name), 'received');
      await subscription.stop();
      await events.close();
      t.pass();
    });

  const expired = join(folder, 'expired');
  writeFileSync(expired, tokenFor(-60));
  const wrong = { username: 'peter', password: `wrong-${secret}` };
  const refused: [string, Record<string, string>, RegExp][] = [
    ['an authority that is not trusted', { ...user('plain', users.plain), KAFKA_TLS_CA: '' }, /certificate/],
    ['no client certificate', tls, /certificate required|closed|handshake|ECONNRESET|alert|Closed/i],
    ['a wrong password', user('plain', wrong), /SASL PLAIN authentication failed/],
    ['a wrong password', user('scram-sha-256', wrong), /SASL SCRAM SHA256 authentication failed/],
    ['an unknown user', user('scram-sha-512', users.plain), /SASL SCRAM SHA512 authentication failed/],
    [
      'an expired token',
      { ...byFile, KAFKA_OAUTH_TOKEN_FILE: expired },
      /the broker refused the OAuth token: invalid_token/,
    ],
  ];
  for (const [name, env, reason] of refused)
    await t.test(`${name} is refused`, async (t) => {
      const events = createKafkaEvents(settingsOf(env), log);
      const sentence = await events.check().then(
        () => 'accepted',
        (error: Error) => error.message,
      );
      t.match(sentence, /^Kafka at 127\.0\.0\.1:\d+ cannot be used: .*\.$/);
      t.match(sentence, reason);
      await events.close();
    });

  await t.test('connections outlive their tokens', async (t) => {
    // The client shows a new one ten seconds before the end of a session.
    writeFileSync(tokenFile, tokenFor(13));
    const events = createKafkaEvents(settingsOf(byFile), log);
    await events.check();
    writeFileSync(tokenFile, tokenFor(600));
    for (let second = 0; second < 16; second++) {
      await events.publish('usage', [{ key: 'a', value: `${second}` }]);
      await delay(1_000);
    }
    await events.close();
    const reconnected = lines.filter((line) => /closed connection|Closed connection/.test(line));
    t.strictSame(reconnected, [], 'none was cut');
  });

  t.ok(lines.length > 0);
  const said = lines.join('');
  for (const word of [
    users.plain.password,
    users.scram.password,
    wrong.password,
    clientSecret,
    'eyJhbGciOiJub25lIn0',
  ])
    t.notOk(said.includes(word), 'no secret in the log');
});
