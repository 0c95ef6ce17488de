/** Addresses to listen on: their links, their TLS files, and why one cannot be used. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createSecureContext } from 'node:tls';

interface Address {
  readonly host: string;
  readonly port: number;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken by another program',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not use that port',
  ENOTFOUND: 'the host name is unknown',
};

/** What links start with: a wildcard address leads nowhere, so links name loopback instead. */
export const linkTo = (scheme: 'http' | 'https', { host, port }: Address): string => {
  const name = loopback[host] ?? host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export const refusal = ({ host, port }: Address, error: unknown): Error => {
  const code = codeOf(error);
  return new Error(`Cannot listen on ${host}:${port}: ${reasons[code] ?? `the system says ${code}`}`, {
    cause: error,
  });
};

/** Why an address cannot be used, for a server that does not say. */
export const whyRefused = (address: Address): Promise<Error> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(refusal(address, error)));
    probe.listen(address, () => probe.close(() => resolve(refusal(address, undefined))));
  });

/** The port, or a free one for 0; rejects with the reason when it is in use. */
export const ensureFree = (address: Address): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(refusal(address, error)));
    probe.listen({ host: address.host, port: address.port, exclusive: true }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

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
