/** Writes the JSON, error and event-stream responses of an OpenAI-like engine. */
import type { ServerResponse } from 'node:http';
import type { ApiError } from '../../errors.ts';
import type { TokenUsage } from '../../ports/engines/chat.ts';
import type { Quirks } from './quirks.ts';

export function sendJson(response: ServerResponse, json: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(json);
}

export function sendError(response: ServerResponse, error: ApiError, quirks: Quirks): void {
  if (response.headersSent || response.destroyed) return;
  const { contentType, body } = errorBody(error, quirks);
  response.writeHead(error.status, { 'content-type': contentType, ...error.headers }).end(body);
}

export function sendEventsHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
}

const types: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'RequestTooLargeError',
  429: 'RateLimitError',
  503: 'ServiceUnavailableError',
};

export function engineError({ message, status }: Pick<ApiError, 'message' | 'status'>) {
  return { error: { message, type: types[status] ?? 'InternalServerError', param: null, code: status } };
}

function errorBody(error: Pick<ApiError, 'message' | 'status'>, quirks: Quirks) {
  if (!quirks.has('html_errors')) {
    return { contentType: 'application/json', body: JSON.stringify(engineError(error)) };
  }
  const title = `${error.status} ${types[error.status] ?? 'InternalServerError'}`;
  return {
    contentType: 'text/html',
    body: `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`,
  };
}

export const engineUsage = (usage: TokenUsage) => ({
  prompt_tokens: usage.prompt,
  completion_tokens: usage.completion,
  total_tokens: usage.prompt + usage.completion,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});
