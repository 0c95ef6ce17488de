/** A whole answer or a failure in; an HTTP response out. */
import type { ServerResponse } from 'node:http';
import type { ApiError } from '../../errors.ts';
import { errorAnswer } from './errors.ts';
import type { Quirks } from './quirks.ts';

export function sendJson(response: ServerResponse, json: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(json);
}

export function sendError(response: ServerResponse, error: ApiError, quirks: Quirks): void {
  if (response.headersSent || response.destroyed) return;
  const { contentType, body } = errorAnswer(error, quirks);
  response.writeHead(error.status, { 'content-type': contentType, ...error.headers }).end(body);
}

export function sendEventsHead(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
}
