/** The one table of failures: what a client sees of each, and the error that carries it. */

export interface FailureKind {
  readonly status: number;
  readonly type: string;
  readonly errorType: string;
  readonly messagesType: string;
  /** What clients know it by, where they look for more than a status. */
  readonly code?: string | undefined;
}

/** Rows of the contract's Errors part; the key is the name used in code. */
export const errorKinds = {
  invalid_request: row(400, 'validation_error', 'invalid_request', 'invalid_request_error'),
  unsupported_parameter: row(400, 'validation_error', 'unsupported_parameter', 'invalid_request_error'),
  context_full: row(
    400,
    'validation_error',
    'invalid_request',
    'invalid_request_error',
    'context_length_exceeded',
  ),
  authentication: row(401, 'auth_error', 'authentication', 'authentication_error'),
  not_found: row(404, 'not_found_error', 'not_found', 'not_found_error'),
  method_not_allowed: row(405, 'invalid_request_error', 'invalid_request', 'invalid_request_error'),
  conflict: row(409, 'invalid_request_error', 'invalid_request', 'invalid_request_error'),
  gone: row(410, 'not_found_error', 'not_found', 'not_found_error'),
  precondition_failed: row(412, 'invalid_request_error', 'invalid_request', 'invalid_request_error'),
  payload_too_large: row(413, 'invalid_request_error', 'payload_too_large', 'request_too_large'),
  range_not_satisfiable: row(416, 'invalid_request_error', 'invalid_request', 'invalid_request_error'),
  unprocessable: row(422, 'validation_error', 'unprocessable', 'invalid_request_error'),
  thread_unsupported: row(
    400,
    'validation_error',
    'unsupported_parameter',
    'invalid_request_error',
    'thread_unsupported_request',
  ),
  rate_limited: row(429, 'rate_limit_error', 'rate_limit_exceeded', 'rate_limit_error'),
  internal: row(500, 'server_error', 'server', 'api_error'),
  engine_unreachable: row(502, 'server_error', 'provider_unavailable', 'api_error'),
  unavailable: row(503, 'server_error', 'provider_overloaded', 'api_error'),
  timeout: row(504, 'timeout_error', 'timeout', 'api_error'),
  overloaded: row(529, 'server_error', 'provider_overloaded', 'overloaded_error'),
} as const satisfies Record<string, FailureKind>;

export type ErrorKind = keyof typeof errorKinds;

/** Why a model did not answer, where another one may answer instead. */
export type FallbackReason = 'down' | 'queue_full' | 'timeout' | 'server_error';

export interface FailureDetails {
  /** Extra response headers, such as `retry-after` or `allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What really happened; for the log, never for the client. */
  readonly cause?: unknown;
  /** Path of the field at fault. Not needed where the message begins with it; null where it does not name one. */
  readonly param?: string | null;
  /** A retry cannot help, though it may with other errors of this kind. */
  readonly isFinal?: true;
  /** Where the kind does not tell; `never`: the engine has answered, and no other model shall. */
  readonly fallback?: FallbackReason | 'never';
  /** The limit that was reached, as far as it is known. */
  readonly window?: LimitWindow;
  /** More for programs, beside the type of the error. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A limit on requests or tokens, as reported to clients beside the response or the error. */
export interface LimitWindow {
  /** Absent: requests. */
  readonly unit?: 'requests' | 'tokens';
  readonly limit: number;
  readonly remaining: number;
  /** When all of it is available again, if nothing more is used: milliseconds of `performance.now`; undefined: not known. */
  readonly resetAt: number | undefined;
}

/** A failure a client may see: its message is written for the reader of the answer. */
export class ApiError extends Error {
  readonly kind: ErrorKind;
  readonly headers: Readonly<Record<string, string>>;
  /** Path of the field at fault, as the message names it. */
  readonly param: string | null;
  readonly window: LimitWindow | undefined;
  readonly metadata: FailureDetails['metadata'];
  readonly #fallback: FallbackReason | 'never' | undefined;

  constructor(kind: ErrorKind, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ApiError';
    this.kind = kind;
    this.#fallback = details.fallback;
    this.window = details.window;
    this.metadata = details.metadata;
    this.param = details.param === undefined ? leadingField(kind, message) : details.param;
    // Never `true`: clients know best when to retry.
    this.headers =
      (details.isFinal ?? isFinal(this.status))
        ? { ...details.headers, 'x-should-retry': 'false' }
        : (details.headers ?? {});
  }

  get status(): number {
    return errorKinds[this.kind].status;
  }

  /** Why a fallback of the model may answer instead; undefined: none may. */
  get fallback(): FallbackReason | undefined {
    const reason = this.#fallback ?? usualFallbacks[this.kind];
    return reason === 'never' ? undefined : reason;
  }
}

const usualFallbacks: Partial<Record<ErrorKind, FallbackReason>> = {
  engine_unreachable: 'server_error',
  unavailable: 'down',
  timeout: 'timeout',
};

export const fail = (kind: ErrorKind, message: string, details?: FailureDetails): ApiError =>
  new ApiError(kind, message, details);

/** A retry of the same request cannot help: of client errors only a limit passes. */
const isFinal = (status: number): boolean => status < 500 && status !== 429;

const fieldKinds: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'unsupported_parameter',
  'payload_too_large',
  'unprocessable',
]);
/** `messages[2].content`, as the path of a request's field is written; sentences begin with a capital letter. */
const fieldPath = /^[a-z_]\w*(?:\.[A-Za-z_$][\w$-]*|\[\w*\]|\["(?:[^"\\]|\\.)*"\])*(?=:? )/;

/** By convention a message about a field of the request begins with it. */
const leadingField = (kind: ErrorKind, message: string): string | null =>
  fieldKinds.has(kind) ? (fieldPath.exec(message)?.[0] ?? null) : null;

/**
 * A prompt that does not fit the context window. Agents compact their history when they find the words of the one
 * vendor or the other in a message; both are here. `field` is what has to be shorter.
 */
export const contextFull = (
  tokens: { readonly prompt: number; readonly maximum: number; readonly window: number },
  field: string,
  details?: FailureDetails,
): ApiError =>
  fail(
    'context_full',
    `prompt is too long: ${tokens.prompt} tokens > ${tokens.maximum} maximum. This model's maximum context length is ${tokens.window} tokens; shorten ${field}`,
    { param: field, ...details },
  );

/** Any thrown thing → an error a client may see. The unexpected becomes a 500 that says nothing of its inside. */
export const asApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : fail('internal', 'Internal server error', { cause: thrown });

export interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly metadata: {
    readonly error_type: string;
    readonly code?: string;
    readonly [more: string]: unknown;
  };
}

/** The inner object of the envelope; also what a stream's error chunk carries. */
export const errorBody = (error: ApiError): ErrorBody => {
  const kind: FailureKind = errorKinds[error.kind];
  return {
    code: kind.status,
    message: error.message,
    type: kind.type,
    param: error.param,
    metadata: {
      error_type: kind.errorType,
      ...(kind.code === undefined ? {} : { code: kind.code }),
      ...error.metadata,
    },
  };
};

export type ErrorDialect = 'envelope' | 'messages';

/** The JSON body of a failed request in the dialect its route speaks. */
export const errorJson = (error: ApiError, dialect: ErrorDialect, requestId: string): string =>
  JSON.stringify(
    dialect === 'envelope'
      ? { error: errorBody(error) }
      : { type: 'error', error: messagesErrorBody(error), request_id: requestId },
  );

interface MessagesErrorBody {
  readonly type: string;
  readonly message: string;
  readonly details?: { readonly error_code?: string; readonly [more: string]: unknown };
}

const messagesErrorBody = (error: ApiError): MessagesErrorBody => {
  const { messagesType, code }: FailureKind = errorKinds[error.kind];
  const body = { type: messagesType, message: error.message };
  if (code === undefined && error.metadata === undefined) return body;
  return { ...body, details: { ...(code === undefined ? {} : { error_code: code }), ...error.metadata } };
};

/** An engine's or library's words, cut to what a client may read: the first line, no addresses, paths, keys or stack. */
export const firstLine = (text: string, limit = 300): string => {
  const line =
    text
      .trim()
      .split(/[\r\n]/, 1)[0]
      ?.trimEnd() ?? '';
  const clean = line
    .replace(/(?<![a-z0-9])[a-z0-9]{2,12}:\/\/\S+/gi, '(address)')
    // A name with a port, or of a kind that only a network within has.
    .replace(/(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[a-z][\w-]{0,62}:\d{2,5}\b/gi, '(address)')
    .replace(/(?<![\w.-])(?:[\w-]{1,63}\.){1,8}(?:local|internal|localdomain|lan|svc)\b/gi, '(address)')
    // A name with a path of its own, as registries write a model's.
    .replace(/(?<![\w.@/-])(?:[\w-]{1,63}\.){1,8}[a-z]{2,20}(?:\/[\w.:@-]{1,200}){2,20}/gi, '(address)')
    .replace(/\blocalhost(?::\d{1,5})?\b/gi, '(address)')
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '(address)')
    .replace(
      /(?<![\w:])\[?(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?::[\da-f][\da-f:.]{0,44}\]?(?::\d+)?(?!\w)/gi,
      '(address)',
    )
    .replace(/(?<=^|[\s"'`(=[:,<{;|])(?:\/[\w.@-]+){2,}/g, '(path)')
    .replace(/\b[a-z]:\\[^\s"'`]+/gi, '(path)')
    .replace(/\b(?:bearer\s|(?:sk|pk|rk|hf)[-_](?=[\w.-]{0,100}[\d*]))[\w*.-]{8,200}/gi, '(key)');
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean;
};

function row(
  status: number,
  type: string,
  errorType: string,
  messagesType: string,
  code?: string,
): FailureKind {
  return { status, type, errorType, messagesType, code };
}
