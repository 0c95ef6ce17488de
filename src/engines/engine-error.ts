/** Classifies failed engine calls: the client's error, whether to retry, whether the replica is at fault. */
import { ApiError, type ErrorKind, type FailureDetails, type FallbackReason } from '../errors.ts';
import { CONNECT_TIMEOUT } from './http1/connection.ts';
import { CLOSED } from './http1/connections.ts';

/**
 * `elsewhere`: no response was seen, another replica may succeed. `anywhere`: the connection was stale before the engine
 * saw the request, so the same replica may be tried too.
 */
export type Retry = 'never' | 'elsewhere' | 'anywhere';

/** What is at fault: the connection, the server, or neither. */
export type Fault = 'connection' | 'server' | 'none';

interface Verdict {
  readonly retry: Retry;
  readonly fault: Fault;
  /** The engine's row is wrong: worth an error in the log. */
  readonly misconfigured?: boolean;
  /** No engine has seen the request: a retry adds no work to any. */
  readonly unsent?: boolean;
  readonly fallback?: FallbackReason | 'never';
  /** A response had begun and the replica did not finish it: another may. */
  readonly brokenOff?: boolean;
}

export class EngineError extends ApiError {
  readonly retry: Retry;
  readonly fault: Fault;
  readonly misconfigured: boolean;
  readonly unsent: boolean;
  readonly brokenOff: boolean;

  constructor(kind: ErrorKind, message: string, verdict: Verdict, details?: FailureDetails) {
    // The engine's words: where they begin with a field, it is one of the engine's request.
    super(kind, message, {
      ...details,
      param: null,
      ...(verdict.fallback === undefined ? {} : { fallback: verdict.fallback }),
    });
    this.name = 'EngineError';
    this.retry = verdict.retry;
    this.fault = verdict.fault;
    this.misconfigured = verdict.misconfigured ?? false;
    this.unsent = verdict.unsent ?? false;
    this.brokenOff = verdict.brokenOff ?? false;
  }
}

const RETRY_AFTER_LIMIT = 3600;

/** A response with an error status. `message` is the engine's own, fit for the client. */
export const statusError = (
  status: number,
  retryAfter: string | undefined,
  message: string | undefined,
  received = status,
): EngineError => {
  const cause = new Error(`The engine answered ${received}: ${withoutQuotes(message ?? 'no reason given')}`);
  switch (status) {
    case 400:
    case 413:
    case 422:
      // The client's request is at fault.
      return new EngineError('invalid_request', message ?? 'The engine refused the request', blameless, {
        cause,
      });
    case 429:
      return busy({ retry: 'elsewhere', fault: 'none', fallback: 'never' }, cause, retryAfter);
    case 503:
    case 529:
      return busy({ retry: 'elsewhere', fault: 'server', fallback: 'server_error' }, cause, retryAfter);
    case 504:
      return new EngineError('timeout', 'The engine did not answer in time', lateServer, { cause });
    default: {
      const misconfigured = status < 500;
      const verdict = {
        retry: 'elsewhere',
        fault: misconfigured ? 'none' : 'server',
        misconfigured,
        fallback: misconfigured ? 'never' : 'server_error',
      } as const;
      return new EngineError('engine_unreachable', 'The engine could not answer', verdict, { cause });
    }
  }
};

/** For the log: long quotes are likely content of the client. */
const withoutQuotes = (message: string): string => message.replace(/(?<!\w)(["'`]).{20,}?\1/g, '$1…$1');

const blameless: Verdict = { retry: 'never', fault: 'none' };
const lateServer: Verdict = { retry: 'never', fault: 'server' };

const busy = (verdict: Verdict, cause: unknown, retryAfter: string | undefined): EngineError => {
  const seconds = Number(retryAfter);
  const sane = Number.isInteger(seconds) && seconds >= 1 && seconds <= RETRY_AFTER_LIMIT;
  return new EngineError('unavailable', 'The model is busy, try again', verdict, {
    cause,
    ...(sane ? { headers: { 'retry-after': String(seconds) } } : {}),
  });
};

/** How far a call got: not sent, no byte on a reused connection, no complete head, a complete head. */
export type Progress = 'unsent' | 'stale' | 'waiting' | 'answered';

/** A connection that could not be made or broke. */
export const connectionError = (cause: Error, progress: Progress): EngineError => {
  if (hasCode(cause, CONNECT_TIMEOUT)) {
    const verdict = { retry: 'elsewhere', fault: 'connection', unsent: true } as const;
    return new EngineError('timeout', 'The engine could not be reached in time', verdict, { cause });
  }
  if (hasCode(cause, CLOSED)) {
    return new EngineError('unavailable', 'The engine was taken out of service', blameless, { cause });
  }
  if (progress === 'answered') {
    const verdict = { ...lateServer, brokenOff: true };
    return new EngineError('engine_unreachable', 'The connection to the engine broke', verdict, { cause });
  }
  const verdict: Verdict =
    progress === 'stale'
      ? { retry: 'anywhere', fault: 'none', unsent: true, fallback: 'down' }
      : { retry: 'elsewhere', fault: 'connection', unsent: progress === 'unsent', fallback: 'down' };
  return new EngineError('engine_unreachable', 'The engine could not be reached', verdict, { cause });
};

export type Limit = 'first_byte' | 'idle' | 'total';

export const timeoutError = (limit: Limit, milliseconds: number): EngineError =>
  new EngineError(
    'timeout',
    'The engine did not answer in time',
    // The total limit is the operator's for the whole answer.
    { ...lateServer, brokenOff: limit === 'idle' },
    { cause: new Error(`The engine call went over its ${limit} limit of ${milliseconds} ms`) },
  );

/** A response that ends before its end, by what is in it. */
export const brokenOff = (message: string, cause?: unknown): EngineError =>
  new EngineError('engine_unreachable', message, { ...blameless, brokenOff: true }, { cause });

const hasCode = (error: Error, code: string): boolean => 'code' in error && error.code === code;
