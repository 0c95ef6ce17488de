/** A client of the admin API. */
import { remark } from '../output.ts';
import type { Gateway } from './target.ts';

const timeoutMs = 60_000;
/** Entries of a list that are read at once, and pages of one list at most. */
const pageSize = 100;
const mostPages = 10_000;

interface Page<T> {
  readonly data: readonly T[];
  readonly last_id?: string | null;
  readonly has_more: boolean;
  readonly links?: { readonly next: string | null };
}

/** A failure that the gateway reports; its message is for people. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class GatewayClient {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    if (process.stderr.isTTY) remark(`Gateway: ${gateway.url}`);
  }

  get url(): string {
    return this.#gateway.url;
  }

  get<T>(path: string): Promise<T> {
    return this.#json<T>('GET', path);
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.#json<T>('POST', path, body);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json<T>('PATCH', path, body);
  }

  delete<T>(path: string): Promise<T> {
    return this.#json<T>('DELETE', path);
  }

  /** All entries, oldest first. */
  async all<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<readonly T[]> {
    const found: T[] = [];
    let after = {};
    for (let pages = 0; pages < mostPages; pages++) {
      const asked = new URLSearchParams({ limit: String(pageSize), order: 'asc', ...query, ...after });
      const page = await this.get<Page<T>>(`${path}?${asked}`);
      found.push(...page.data);
      if (!page.has_more || page.last_id == null) return found;
      after = { after: page.last_id };
    }
    throw new Error(`${path} has more entries than can be listed`);
  }

  /** Lines of a response that need not end. */
  async *lines(path: string): AsyncGenerator<string> {
    const response = await this.#fetch('GET', path, undefined, undefined);
    if (response.body === null) return;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of response.body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.#fetch(method, path, body, AbortSignal.timeout(timeoutMs));
    return (await response.json()) as T;
  }

  async #fetch(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { url, token } = this.#gateway;
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new Error(`${url} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`);
    });
    if (!response.ok)
      throw new GatewayError(response.status, messageOf(response, await response.text(), url));
    return response;
  }
}

const messageOf = ({ status }: Response, text: string, url: string): string => {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    if (error?.message !== undefined) return error.message;
  } catch {
    // Said below.
  }
  return `${url} answered ${status}: is it the admin port of a gateway?`;
};
