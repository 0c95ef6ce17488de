/** Opens connections to Kafka, with or without TLS; each reads its certificates again. */
import { readFileSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

/** Files in PEM. */
export interface KafkaTls {
  /** Whom to trust instead of the authorities that Node knows. */
  readonly caFile?: string | undefined;
  /** What the client shows, if brokers ask for it. */
  readonly client?: { readonly certFile: string; readonly keyFile: string } | undefined;
}

const keepAlive = 60_000;

export const socketsFor =
  (tls: KafkaTls | undefined): ISocketFactory =>
  ({ host, port, onConnect }) => {
    const socket =
      tls === undefined
        ? connect({ host, port }, onConnect)
        : connectTls({ host, port, ...secured(host, tls) }, onConnect);
    // The library gives up a connection that is still being made once for every request that waits for it.
    return socket.setMaxListeners(0).setKeepAlive(true, keepAlive);
  };

/** Certificates are renewed while processes run: the next connection uses the new ones. */
const secured = (host: string, { caFile, client }: KafkaTls): ConnectionOptions => ({
  ...(isIP(host) === 0 ? { servername: host } : {}),
  ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
  ...(client === undefined ? {} : { cert: readFileSync(client.certFile), key: readFileSync(client.keyFile) }),
});
