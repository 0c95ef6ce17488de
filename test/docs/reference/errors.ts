/** The reference of errors, from the table of failures. */
import { ApiError, type ErrorKind, errorBody, errorKinds } from '../../../src/errors.ts';
import { code, joined, jsonBlock, opening, table } from './page.ts';

/** When a client sees each of them. A kind without a row does not compile. */
const meanings: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'A field is missing, malformed or contradicts another. The message begins with its path.',
  unsupported_parameter: 'The model or the route does not support a field.',
  context_full: 'The prompt does not fit the context window.',
  thread_unsupported: 'The request asks for a stored conversation, which this API does not keep.',
  authentication: 'The key is missing, wrong, expired or suspended, or may not be used here.',
  not_found: 'There is no such route, model, job, file or stream, or it belongs to another subscription.',
  method_not_allowed: 'The route exists, but not with this method. `Allow` lists those it has.',
  conflict: 'The record changed its state during the request, or the state forbids it.',
  gone: 'The events that were requested are no longer kept.',
  precondition_failed: 'The record has changed since its `ETag` was read.',
  payload_too_large: 'A body, a file or a decoded medium exceeds its limit, which the message gives.',
  range_not_satisfiable: 'No part of the file lies in the requested `Range`.',
  unprocessable: 'The request is well-formed, but the model cannot answer it.',
  rate_limited: 'A limit on requests, tokens or concurrency is reached, or a budget is spent.',
  internal: 'An unexpected failure. The log has the cause under the request id.',
  engine_unreachable: 'No replica of the engine could be reached, or what it returned cannot be used.',
  unavailable: 'The engine or a service is busy or unavailable, or the gateway is stopping.',
  timeout: 'The engine did not respond in time.',
  overloaded: 'The model is overloaded.',
};

const retryOf = (kind: ErrorKind): string => {
  const error = new ApiError(kind, 'Text');
  if (error.headers['x-should-retry'] === 'false') return 'no';
  return error.status === 500 ? 'once' : 'yes';
};

export const errorsPage = (): string => {
  const example = new ApiError('invalid_request', 'messages[0].content is required');
  const kinds = Object.keys(errorKinds) as ErrorKind[];
  const rows = [...kinds].sort((one, other) => errorKinds[one].status - errorKinds[other].status);
  return joined([
    opening(
      'Errors',
      'Every error that a client can receive. All routes have one shape; routes below `/messages` use that of the Messages API, whose type is the last column. Branch on `error.metadata.error_type`.',
      '`src/errors.ts`',
    ),
    jsonBlock({ error: errorBody(example) }),
    table(
      ['Status', '`error_type`', '`type`', 'Messages API', 'Retry', 'When'],
      rows.map((kind) => {
        const { status, type, errorType, messagesType, code: more } = errorKinds[kind];
        const named = more === undefined ? code(errorType) : `${code(errorType)}, \`code\` ${code(more)}`;
        return [String(status), named, code(type), code(messagesType), retryOf(kind), meanings[kind]];
      }),
    ),
    '## Retries',
    'A response with `X-Should-Retry: false` fails the same way again. After a 429 or 503, wait for `Retry-After` seconds if the header is present. After a 502, 503 or 504, wait one or two seconds and double the wait with every attempt. Retry a 500 once. A 429 for a budget that does not reset has `X-Should-Retry: false`.',
    '## Streams',
    'An error before the first byte is an HTTP error. After it the status is sent already: an event stream ends with the error event of its format, then its regular end; a binary stream is cut. [API by example](../api.md#errors) shows each.',
  ]);
};
