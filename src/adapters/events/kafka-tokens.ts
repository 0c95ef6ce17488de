/** Gets OAuth tokens for Kafka: from a file, or from a token endpoint by client credentials. */
import { open } from 'node:fs/promises';

export type TokenSource =
  /** Renewed by somebody else, as Kubernetes does; read for every authentication. */
  { readonly file: string } | ClientCredentials;

interface ClientCredentials {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | undefined;
}

interface Token {
  readonly value: string;
}

interface Granted extends Token {
  /** Milliseconds since 1970; afterwards another one is asked for. */
  readonly until: number;
}

/** Less than an authentication may take. */
const endpointMs = 4_000;
const mostBytes = 64 * 1024;

export const tokensFrom = (source: TokenSource): (() => Promise<Token>) =>
  'file' in source ? () => fromFile(source.file) : fromEndpoint(source);

const fromFile = async (path: string): Promise<Token> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return { value: checked(buffer.toString('latin1', 0, bytesRead).trim(), path) };
  } finally {
    await file.close();
  }
};

/** Connections that open at once share a request, and later ones the token while most of its life is left. */
const fromEndpoint = (client: ClientCredentials): (() => Promise<Token>) => {
  let granted: Granted | undefined;
  let asked: Promise<Granted> | undefined;
  return async () => {
    if (granted !== undefined && Date.now() < granted.until) return granted;
    asked ??= grant(client).finally(() => {
      asked = undefined;
    });
    granted = await asked;
    return granted;
  };
};

const grant = async ({ url, clientId, clientSecret, scope }: ClientCredentials): Promise<Granted> => {
  const begun = Date.now();
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(endpointMs),
    headers: {
      authorization: `Basic ${Buffer.from([clientId, clientSecret].map(formEncoded).join(':')).toString('base64')}`,
      accept: 'application/json',
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope === undefined ? {} : { scope }),
    }),
  }).catch((error: unknown) => {
    throw new Error(`${url} does not respond: ${causeOf(error)}`, { cause: error });
  });
  const text = await bounded(response, url);
  if (!response.ok) throw new Error(`${url} responded ${response.status} instead of a token`);
  const { access_token, expires_in } = fieldsOf(text, url);
  const life = typeof expires_in === 'number' && expires_in > 0 ? expires_in * 1000 : 0;
  return { value: checked(access_token, url), until: begun + life * 0.8 };
};

/** As RFC 6749 has it for client ids and secrets. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

const causeOf = (error: unknown): string => {
  const { cause = error } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause);
};

const bounded = async (response: Response, url: string): Promise<string> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > mostBytes) throw new Error(`${url} responded with more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
};

const fieldsOf = (text: string, url: string): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new Error(`${url} responded with something other than JSON`);
  }
};

/** What the protocol can carry; the message does not contain it. */
const checked = (token: unknown, from: string): string => {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new Error(`${from} contains no token`);
};
