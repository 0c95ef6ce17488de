/** Calls an API with a token; failures become errors with the message, the field and the request id. */

export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0: there was no response. */
  readonly status: number;
  readonly code: string | undefined;
  /** The field the message is about. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;

  constructor(
    message: string,
    of: { status: number; code?: unknown; param?: unknown; requestId?: string | null },
  ) {
    super(message);
    this.status = of.status;
    this.code = textOf(of.code);
    this.param = textOf(of.param);
    this.requestId = of.requestId ?? undefined;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Where to send requests, and with which token. */
export interface Api {
  /** Without a slash at its end. */
  readonly base: () => string;
  readonly token: () => string | undefined;
  /** The token is not accepted, or no longer. */
  readonly refused?: () => void;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly query?: Query;
  /** Sent as JSON, a form as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const addressOf = (api: Api, path: string, query: Query = {}): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(pairs).toString();
  return `${api.base()}${path}${search === '' ? '' : `?${search}`}`;
};

/** The response once its head is here; throws an `ApiError` unless it is a success. */
export const request = async (api: Api, path: string, options: RequestOptions = {}): Promise<Response> => {
  const { method = 'GET', query, body, headers = {}, signal } = options;
  const token = api.token();
  const isForm = body instanceof FormData;
  const init: RequestInit = {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
    cache: 'no-store',
  };
  let response: Response;
  try {
    response = await fetch(addressOf(api, path, query), init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('The gateway cannot be reached.', { status: 0 });
  }
  if (response.ok) return response;
  if (response.status === 401) api.refused?.();
  throw await failureOf(response);
};

/** The JSON of a response; undefined where there is none. */
export const requestJson = async <T>(api: Api, path: string, options: RequestOptions = {}): Promise<T> => {
  const response = await request(api, path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
};

const failureOf = async (response: Response): Promise<ApiError> => {
  const text = await response.text();
  const requestId = response.headers.get('x-request-id');
  let error: { message?: unknown; code?: unknown; param?: unknown } = {};
  try {
    error = (JSON.parse(text) as { error?: typeof error }).error ?? {};
  } catch {
    // A proxy in between: what it says is shown as it is.
    error = { message: text.slice(0, 500) };
  }
  const message = textOf(error.message);
  return new ApiError(message === undefined || message === '' ? response.statusText : message, {
    status: response.status,
    code: error.code,
    param: error.param,
    requestId,
  });
};
