/** Checks a response against the OpenAPI document and describes what is wrong. */
import { Compile } from 'typebox/schema';
import type { OpenApi, Operation, Schema } from './document.ts';
import type { FuzzRequest } from './requests.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export type Judge = (request: FuzzRequest, answer: Answer) => readonly string[];

interface Validator {
  Errors(
    value: unknown,
  ): readonly [boolean, readonly { readonly instancePath: string; readonly message: string }[]];
}

/** Errors that any request may get, whatever its route: bad escapes, no such route or method, too large. */
const anywhere = new Set([400, 404, 405, 413]);

/** The contract's table: status → `error.type`. */
const types: Readonly<Record<number, readonly string[]>> = {
  400: ['validation_error'],
  401: ['auth_error'],
  404: ['not_found_error'],
  405: ['invalid_request_error'],
  409: ['invalid_request_error'],
  413: ['invalid_request_error'],
  416: ['invalid_request_error'],
  422: ['validation_error'],
  429: ['rate_limit_error'],
  502: ['server_error'],
  503: ['server_error'],
  504: ['timeout_error'],
  529: ['server_error'],
};
const messagesTypes: Readonly<Record<number, readonly string[]>> = {
  ...Object.fromEntries([400, 405, 409].map((status) => [status, ['invalid_request_error']])),
  401: ['authentication_error'],
  404: ['not_found_error'],
  413: ['request_too_large'],
  429: ['rate_limit_error'],
  ...Object.fromEntries([502, 503, 504].map((status) => [status, ['api_error']])),
};

export const createJudge = (document: OpenApi): Judge => {
  const validators = new Map<string, Validator>();
  const problemsOf = (schema: Schema, value: unknown, what: string): string[] => {
    const text = JSON.stringify(schema);
    const known =
      validators.get(text) ?? (Compile({ ...schema, components: document.components }) as Validator);
    validators.set(text, known);
    const [fits, errors] = known.Errors(value);
    return fits
      ? []
      : [`${what} is not as documented: ${errors.map(worded).join('; ') || 'no reason given'}`];
  };
  const envelope: Schema = { $ref: '#/components/schemas/ErrorEnvelope' };
  const messagesError: Schema = { $ref: '#/components/schemas/MessagesError' };

  const failure = (request: FuzzRequest, { status, headers, body }: Answer): string[] => {
    const value = parsed(body);
    const isMessages = speaksMessages(request);
    const problems = problemsOf(isMessages ? messagesError : envelope, value, 'The error');
    if (problems.length > 0) return [...problems, body.toString().slice(0, 300)];
    const { error } = value as { error: { code?: number; type: string; message: string } };
    if (!(isMessages ? messagesTypes : types)[status]?.includes(error.type))
      problems.push(`${status} with the type ${error.type}`);
    if (!isMessages && error.code !== status) problems.push(`error.code is ${error.code}`);
    if (/node_modules|\.ts:\d|\bat \w+ \(/.test(error.message))
      problems.push(`The message shows our inside: ${error.message.slice(0, 300)}`);
    if (error.message.trim() === '' || error.message.length > 2000)
      problems.push(`The message has ${error.message.length} characters`);
    if (status === 405 && headers.allow === undefined) problems.push('405 without Allow');
    if (status === 429 && !/^\d+$/.test(String(headers['retry-after'])))
      problems.push('429 without Retry-After');
    return problems;
  };

  const success = ({ operation }: FuzzRequest, { headers, body }: Answer): string[] => {
    const type = mediaType(headers);
    const schema = operation.success.content[type];
    if (Object.keys(operation.success.content).length === 0)
      return body.length === 0 ? [] : ['A body where none is documented'];
    if (schema === undefined && operation.path.startsWith('/blobs')) return [];
    if (schema === undefined) return [`The content type ${type} is not documented`];
    if (type === 'application/json') return problemsOf(schema, parsed(body), 'The answer');
    return type === 'text/event-stream' ? events(schema, body) : [];
  };

  const events = (schema: Schema, body: Buffer): string[] =>
    body
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
      .flatMap((line) => {
        const value = parsed(Buffer.from(line.slice(6)));
        return isStreamError(value) ? [] : problemsOf(schema, value, `The event ${line.slice(0, 200)}`);
      });

  return (request, answer) => {
    const { operation, method } = request;
    const { status } = answer;
    const problems: string[] = [];
    if (status === 500) problems.push('500');
    const isOwnMethod = method === operation.method;
    if (isOwnMethod && !operation.statuses.has(status) && !anywhere.has(status))
      problems.push(`The status ${status} is not documented`);
    if (answer.headers['x-request-id'] === undefined) problems.push('No x-request-id');
    if (status >= 400) return [...problems, ...failure(request, answer)];
    return isOwnMethod && status !== 206 ? [...problems, ...success(request, answer)] : problems;
  };
};

/** Whether errors to it are in the messages shape: its route's, or one that goes by the version header. */
const speaksMessages = ({ operation, path, headers }: FuzzRequest): boolean =>
  isBelow(path, '/messages') ||
  (headers['anthropic-version'] !== undefined && isModels(operation) && isBelow(path, '/models'));

const isBelow = (path: string, start: string): boolean =>
  path === start || path.startsWith(`${start}/`) || path.startsWith(`${start}?`);

const isModels = ({ path }: Operation): boolean => path === '/models' || path.startsWith('/models/');

/** A failure after the first event comes in the stream's own words. */
const isStreamError = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'error' in value &&
  typeof value.error === 'object' &&
  value.error !== null &&
  'message' in value.error;

const mediaType = (headers: Answer['headers']): string =>
  String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim() ?? '';

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

const worded = ({ instancePath, message }: { instancePath: string; message: string }): string =>
  `${instancePath} ${message}`;
