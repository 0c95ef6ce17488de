/** Documentation of a route for the OpenAPI document, and schemas that all routes share. */
import Type, { type TObject, type TSchema } from 'typebox';
import { Titled } from './shapes.ts';

/** Version of the HTTP contract, not of the program. */
export const apiVersion = '1.4.0';

/** Schemas by media type. */
export type Content = Readonly<Record<string, TSchema>>;

export const json = (schema: TSchema): Content => ({ 'application/json': schema });

export interface RouteDoc {
  /** Group the route is shown in. */
  readonly tag: string;
  readonly summary: string;
  readonly query?: TObject;
  /** Request headers that mean something here. */
  readonly headers?: TObject;
  readonly body?: Content;
  /** Status of a success; 200 by default. */
  readonly status?: number;
  /** Body of a success; absent: none. */
  readonly response?: Content;
  /** 204 where there is nothing to send. */
  readonly orNothing?: true;
  /** Accepts `Range`: then 206, or 416 when there is no such range. */
  readonly ranges?: true;
  /** Statuses of failures beyond 401 (keyed routes) and 500 (all). */
  readonly errors?: readonly number[];
}

/** What a 429 of a limit on tokens, of a limit of the key or of a budget names. */
const refusedBy = {
  limit: Type.Optional(
    Type.Object(
      {
        kind: Type.String({ description: '`tokens_per_minute`, `concurrency` …' }),
        scope: Type.Enum(['key', 'subscription']),
        model: Type.Optional(Type.String()),
        limit: Type.Integer(),
        remaining: Type.Integer(),
        resets_at: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Unix seconds when the request fits; null: when others end',
        }),
      },
      { description: 'On 429: the limit on tokens, or of the key, that the request could exceed' },
    ),
  ),
  budget: Type.Optional(
    Type.Object(
      {
        id: Type.String(),
        period: Type.Enum(['day', 'week', 'month', 'total']),
        limit: Type.String({ description: 'US dollars' }),
        remaining: Type.String({ description: 'US dollars' }),
        resets_at: Type.Union([Type.Integer(), Type.Null()], { description: 'Unix seconds; null: never' }),
      },
      { description: 'On 429: the budget that the request could exceed' },
    ),
  ),
};

export const ErrorEnvelope = Titled('ErrorEnvelope', {
  error: Type.Object({
    code: Type.Integer({ description: 'Repeats the HTTP status' }),
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    metadata: Type.Object({
      error_type: Type.String({ description: 'Typed code for branching' }),
      code: Type.Optional(Type.String({ description: '`context_length_exceeded`: the prompt is too long' })),
      ...refusedBy,
    }),
  }),
});

export const MessagesError = Titled('MessagesError', {
  type: Type.Literal('error'),
  error: Type.Object({
    type: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Object({ error_code: Type.Optional(Type.String()), ...refusedBy })),
  }),
  request_id: Type.String(),
});

export const statusMeanings: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, no content',
  206: 'The range that was requested',
  400: 'A field is missing, malformed or unsupported; the message names it',
  401: 'Key missing, wrong or not active',
  404: 'No such model, job, file or route',
  409: 'The job changed state during the action',
  410: 'The events asked for are no longer kept; the message says which are',
  412: 'The record has changed since its `ETag` was read',
  413: 'Body or file too large; the message gives the limit',
  416: 'No part of it lies in the `Range`; `Content-Range` gives its size',
  422: 'The questions cannot be answered as they are put',
  429: 'Too many requests or tokens, or a budget is spent; wait `Retry-After` seconds, unless `X-Should-Retry` is false',
  500: 'Failure on the service side',
  502: 'Engine or a needed service unreachable; retry',
  503: 'Model unavailable or busy; retry',
  504: 'Engine did not respond in time; retry',
  529: 'Model overloaded; retry with growing waits',
};
