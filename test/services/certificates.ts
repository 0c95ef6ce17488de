/** Makes an authority, and certificates of it for a server on this machine and for a client. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pair {
  readonly certFile: string;
  readonly keyFile: string;
  /** Key and certificate in one file. */
  readonly bothFile: string;
}

export interface Certificates {
  readonly caFile: string;
  readonly server: Pair;
  readonly client: Pair;
}

/** In this folder, which is the caller's. */
export const makeCertificates = (folder: string): Certificates => {
  const file = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=test authority'];
  openssl('req', '-x509', ...newKey, '-days', '2', ...authority);
  const issue = (name: string, extensions: string): Pair => {
    const [keyFile, certFile, bothFile] = [
      file(`${name}.key`),
      file(`${name}.pem`),
      file(`${name}.both.pem`),
    ];
    writeFileSync(file(`${name}.ext`), extensions);
    openssl('req', ...newKey, '-keyout', keyFile, '-out', file(`${name}.csr`), '-subj', `/CN=${name}`);
    const by = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
    openssl(
      'x509',
      '-req',
      '-in',
      file(`${name}.csr`),
      ...by,
      '-extfile',
      file(`${name}.ext`),
      '-out',
      certFile,
    );
    writeFileSync(bothFile, readFileSync(keyFile, 'utf8') + readFileSync(certFile, 'utf8'));
    return { certFile, keyFile, bothFile };
  };
  return {
    caFile: file('ca.pem'),
    server: issue('server', 'subjectAltName=IP:127.0.0.1,DNS:localhost\n'),
    client: issue('client', 'extendedKeyUsage=clientAuth\n'),
  };
};
