/** A client of the API server under test, by plain HTTP. */
import { Agent, request } from 'undici';

export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  /** What admission warns of. */
  readonly warnings: readonly string[];
}

export interface Api {
  call(method: string, path: string, body?: unknown, type?: string): Promise<ApiReply>;
  /** Throws for any status of 400 or above. */
  get<T>(path: string): Promise<T>;
  list<T>(path: string): Promise<readonly T[]>;
  post<T>(path: string, body: unknown): Promise<T>;
  /** A JSON merge patch. */
  patch(path: string, body: unknown): Promise<void>;
  /** A server-side apply, as `kubectl apply --server-side` does it. Returns warnings. */
  apply(object: ApiObject): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Plurals of the kinds that are applied here; others are plain. */
const plural = (kind: string): string => {
  const lower = kind.toLowerCase();
  if (lower.endsWith('s')) return `${lower}es`;
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
};
const withoutNamespace = new Set([
  'Namespace',
  'Node',
  'CustomResourceDefinition',
  'StorageClass',
  'PriorityClass',
  'APIService',
]);

export const pathOf = ({ apiVersion = '', kind = '', metadata }: ApiObject): string => {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = withoutNamespace.has(kind) ? '' : `/namespaces/${metadata.namespace}`;
  return `${base}${place}/${plural(kind)}/${metadata.name}`;
};

export const openApi = (url: string, token: string, ca: string): Api => {
  const agent = new Agent({ connect: { ca } });
  const call: Api['call'] = async (method, path, body, type = 'application/json') => {
    const reply = await request(url + path, {
      dispatcher: agent,
      method: method as 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.body.text();
    const json = reply.headers['content-type']?.includes('json') === true;
    const warnings = [reply.headers.warning ?? []].flat();
    return { status: reply.statusCode, body: json ? JSON.parse(text) : text, warnings };
  };
  const expected = async (...args: Parameters<typeof call>): Promise<ApiReply> => {
    const reply = await call(...args);
    if (reply.status >= 400)
      throw new Error(`${args[0]} ${args[1]}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 2000)}`);
    return reply;
  };
  return {
    call,
    get: async <T>(path: string) => (await expected('GET', path)).body as T,
    list: async <T>(path: string) =>
      ((await expected('GET', path)).body as { readonly items: readonly T[] }).items,
    post: async <T>(path: string, body: unknown) => (await expected('POST', path, body)).body as T,
    patch: async (path, body) => void (await expected('PATCH', path, body, 'application/merge-patch+json')),
    apply: async (object) =>
      (
        await expected(
          'PATCH',
          `${pathOf(object)}?fieldManager=test&force=true`,
          object,
          // JSON is YAML.
          'application/apply-patch+yaml',
        )
      ).warnings,
    close: () => agent.destroy(),
  };
};
