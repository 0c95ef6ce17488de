/** An OpenID provider on loopback that signs web identity tokens. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface IdentityProvider {
  readonly configUrl: string;
  token(claims: { readonly audience: string; readonly seconds: number }): string;
  stop(): Promise<void>;
}

export const startIdentityProvider = async (): Promise<IdentityProvider> => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' };
  const server = createServer((request, response) => {
    const answer = request.url === '/keys' ? { keys: [key] } : document(url);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    configUrl: `${url}/.well-known/openid-configuration`,
    token: ({ audience, seconds }) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: url, aud: audience, azp: audience, sub: 'gateway', iat: now, exp: now + seconds };
      const text = [{ alg: 'RS256', typ: 'JWT', kid: '1' }, claims].map(encoded).join('.');
      return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const document = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
});
