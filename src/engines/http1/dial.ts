/** Opens sockets, with TLS where the address asks for it. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Address {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** In the server's certificate; the host unless given. */
  readonly name?: string | undefined;
  /** PEM of the authorities that are trusted instead of the public ones. */
  readonly ca: string | undefined;
}

/** Takes what was read, in a buffer that the next read of any socket overwrites; false pauses reading. */
type Take = (bytes: Buffer, length: number) => boolean;

/**
 * Reads are handled before another socket can be read, so one buffer serves all sockets; Node would otherwise allocate
 * 64 KiB for every read, however small.
 */
const memory = Buffer.allocUnsafeSlow(64 * 1024);

export const addressOf = (url: URL, ca: string | undefined, name?: string): Address => {
  const secure = url.protocol === 'https:';
  return {
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    name,
    ca,
  };
};

export const dial = ({ secure, host, port, name = host, ca }: Address, take: Take): Socket => {
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    onread: { buffer: memory, callback: (length: number): boolean => take(memory, length) },
  };
  if (!secure) return connect(options);
  return connectTls({
    ...options,
    // SNI takes names only.
    servername: isIP(name) === 0 ? name : '',
    ALPNProtocols: ['http/1.1'],
    ...(ca === undefined ? {} : { ca }),
  });
};
