/** A client of the admin API for tests. */
import type { TestGateway } from '../gateway.ts';

export const adminToken = 'admin-test-0123456789abcdef';

export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared as wholes.
  readonly body: any;
}

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export const callerOf =
  (url: string): Call =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      etag: response.headers.get('etag'),
      body: text === '' ? undefined : JSON.parse(text),
    };
  };

export const adminOf = ({ adminUrl }: TestGateway): Call => callerOf(String(adminUrl));

export const adminEnv = { SLUICE_ADMIN_PORT: '0', SLUICE_ADMIN_TOKEN: adminToken };

/** The gateway's own shape of errors. */
export const refusal = (
  code: number,
  type: string,
  errorType: string,
  message: string,
  param: string | null = null,
) => ({ error: { code, message, type, param, metadata: { error_type: errorType } } });
