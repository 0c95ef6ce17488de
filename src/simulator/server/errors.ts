/** A failure in; the error body of an OpenAI-like engine out. */
import type { ApiError } from '../../errors.ts';
import type { Quirks } from './quirks.ts';

const types: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'RequestTooLargeError',
  429: 'RateLimitError',
  503: 'ServiceUnavailableError',
};

export interface EngineError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: number;
  };
}

export function engineError({ message, status }: Pick<ApiError, 'message' | 'status'>): EngineError {
  return { error: { message, type: types[status] ?? 'InternalServerError', param: null, code: status } };
}

export interface ErrorAnswer {
  readonly contentType: string;
  readonly body: string;
}

export function errorAnswer(error: Pick<ApiError, 'message' | 'status'>, quirks: Quirks): ErrorAnswer {
  if (!quirks.has('html_errors')) {
    return { contentType: 'application/json', body: JSON.stringify(engineError(error)) };
  }
  const title = `${error.status} ${types[error.status] ?? 'InternalServerError'}`;
  return {
    contentType: 'text/html',
    body: `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`,
  };
}
