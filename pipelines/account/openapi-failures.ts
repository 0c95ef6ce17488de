/** Responses of failures for the OpenAPI document: written once for each status and shape of errors. */
import { ErrorEnvelope, MessagesError, statusMeanings } from '../../schemas/openapi.ts';
import { type ApiError, type ErrorDialect, errorJson, fail } from '../../src/errors.ts';
import type { Components, Json } from './openapi-schemas.ts';

/** What the errors of a route look like; `either` where a header decides. */
export type ErrorShape = ErrorDialect | 'either';

const schemas = {
  envelope: ErrorEnvelope,
  messages: MessagesError,
  either: { anyOf: [ErrorEnvelope, MessagesError] },
};

const samples: Readonly<Record<number, ApiError>> = {
  400: fail('invalid_request', 'temperature must be between 0 and 2'),
  401: fail('authentication', 'Invalid API key'),
  404: fail('not_found', 'No model named "acme/none"'),
  409: fail('conflict', 'The job changed while it was being cancelled; read it again'),
  410: fail('gone', 'Events before 120 are no longer kept'),
  412: fail('precondition_failed', 'The record has changed; read it again'),
  413: fail('payload_too_large', 'The body is larger than 16777216 bytes'),
  416: fail('range_not_satisfiable', 'The range begins after the last byte'),
  422: fail('unprocessable', 'questions.polite.instructions is required'),
  429: fail('rate_limited', 'Too many requests for model sluice/chat in the last minute'),
  500: fail('internal', 'Internal server error'),
  502: fail('engine_unreachable', 'The model could not be reached'),
  503: fail('unavailable', 'The model is not available at the moment'),
  504: fail('timeout', 'The model did not respond in time'),
  529: fail('overloaded', 'The model is overloaded'),
};

export class Failures {
  readonly #responses = new Map<string, Json>();
  readonly #components: Components;
  readonly #headers: (status: number) => Json;

  constructor(components: Components, headers: (status: number) => Json) {
    this.#components = components;
    this.#headers = headers;
  }

  get responses(): Json {
    return Object.fromEntries(this.#responses);
  }

  response(status: number, shape: ErrorShape): Json {
    const name = `${{ envelope: '', messages: 'Messages', either: 'Either' }[shape]}Error${status}`;
    if (!this.#responses.has(name))
      this.#responses.set(name, {
        description: statusMeanings[status] ?? `Status ${status}`,
        headers: this.#headers(status),
        content: {
          'application/json': {
            schema: this.#components.lift(schemas[shape]),
            examples: examples(status, shape),
          },
        },
      });
    return { $ref: `#/components/responses/${name}` };
  }
}

const examples = (status: number, shape: ErrorShape): Json => {
  const error = samples[status];
  if (error === undefined) return {};
  const value = (dialect: ErrorDialect) => ({
    value: JSON.parse(errorJson(error, dialect, 'req_65a9a358806c904eec1b8c982')),
  });
  return {
    ...(shape === 'messages' ? {} : { error: value('envelope') }),
    ...(shape === 'envelope' ? {} : { 'error of the messages format': value('messages') }),
  };
};
