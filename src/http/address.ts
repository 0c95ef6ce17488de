/** A place to listen at in; how links name it, and what can be wrong with it in one sentence each. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { TlsFiles } from './channel.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken by another program',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not use that port',
  ENOTFOUND: 'the host name is unknown',
};

/** What links start with: an address that stands for all of them leads nowhere, so it is named by loopback's. */
export const linkTo = (scheme: 'http' | 'https', { host, port }: Place): string => {
  const name = loopback[host] ?? host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export const refusal = ({ host, port }: Place, error: unknown): Error => {
  const code = codeOf(error);
  return new Error(`Cannot listen on ${host}:${port}: ${reasons[code] ?? `the system says ${code}`}`, {
    cause: error,
  });
};

/** Why an address is refused, for a server that does not say. */
export const whyRefused = (place: Place): Promise<Error> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(refusal(place, error)));
    probe.listen(place, () => probe.close(() => resolve(refusal(place, undefined))));
  });

/** The port, or a free one for 0; rejects with why when anybody listens there. */
export const ensureFree = (place: Place): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(refusal(place, error)));
    probe.listen({ host: place.host, port: place.port, exclusive: true }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export const readTls = ({ certFile, keyFile }: TlsFiles): TlsPair => {
  const pair = { cert: readPem('certificate', certFile), key: readPem('key', keyFile) };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new Error(`TLS certificate ${certFile} and key ${keyFile} are not a valid pair`, { cause: error });
  }
  return pair;
};

const readPem = (what: string, file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`TLS ${what} ${file} cannot be read: ${codeOf(error)}`, { cause: error });
  }
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'nothing more';
