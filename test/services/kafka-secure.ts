/** A Kafka broker with a TLS listener that asks for client certificates, and one with SASL. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Certificates } from './certificates.ts';
import { freePort } from './child.ts';
import { clusterId, kafkaJava, startKafkaCluster } from './kafka.ts';

export interface SecureKafka {
  /** TLS with client certificates. */
  readonly tls: string;
  /** TLS with a user. */
  readonly sasl: string;
  stop(): Promise<void>;
}

export interface KafkaUsers {
  readonly plain: { readonly username: string; readonly password: string };
  readonly scram: { readonly username: string; readonly password: string };
}

const login = (module: string, options: string) =>
  `org.apache.kafka.common.security.${module}LoginModule required ${options};`;

/** Sessions of tokens last as long as these. */
export const startSecureKafka = async (
  { caFile, server }: Certificates,
  { plain, scram }: KafkaUsers,
): Promise<SecureKafka> => {
  const [tls, sasl] = [await freePort(), await freePort()];
  const credential = `[name=${scram.username},password=${scram.password}]`;
  const users = `username="${plain.username}" password="${plain.password}" user_${plain.username}="${plain.password}"`;
  const { stop } = await startKafkaCluster(1, {
    listeners: [
      { name: 'TLS', port: tls, protocol: 'SSL' },
      { name: 'SASL', port: sasl, protocol: 'SASL_SSL' },
    ],
    properties: `ssl.keystore.type=PEM
ssl.keystore.location=${server.bothFile}
ssl.truststore.type=PEM
ssl.truststore.location=${caFile}
listener.name.tls.ssl.client.auth=required
listener.name.sasl.ssl.client.auth=none
listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl.plain.sasl.jaas.config=${login('plain.Plain', users)}
listener.name.sasl.scram-sha-256.sasl.jaas.config=${login('scram.Scram', '')}
listener.name.sasl.scram-sha-512.sasl.jaas.config=${login('scram.Scram', '')}
listener.name.sasl.oauthbearer.sasl.jaas.config=${login('oauthbearer.OAuthBearer', 'unsecuredLoginStringClaim_sub="broker"')}
listener.name.sasl.oauthbearer.connections.max.reauth.ms=3600000
`,
    format: async (properties) => {
      const scrams = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((name) => ['-S', `${name}=${credential}`]);
      const args = ['format', '-c', properties, '-t', clusterId, ...scrams];
      await promisify(execFile)('java', kafkaJava('kafka.tools.StorageTool', ...args));
    },
  });
  return { tls: `127.0.0.1:${tls}`, sasl: `127.0.0.1:${sasl}`, stop };
};
