/** Documentation of a route for the OpenAPI document, and schemas that all routes share. */
import Type, { type TObject, type TSchema } from 'typebox';
import { Nullable, Titled } from './shapes.ts';

/** Version of the HTTP contract, not of the program. */
export const apiVersion = '1.4.0';

/** Schemas by media type. */
export type Content = Readonly<Record<string, TSchema>>;

export const json = (schema: TSchema): Content => ({ 'application/json': schema });

/** By media type, then by what they show. Streams are texts, as they are sent. */
export type Examples = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface RouteDoc {
  /** Group the route is shown in. */
  readonly tag: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** What it does, its rules and what it bills: a few sentences. */
  readonly description?: string;
  /** Parameters in the path. */
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that mean something here. */
  readonly headers?: TObject;
  readonly body?: Content;
  /** Status of a success; 200 by default. */
  readonly status?: number;
  /** Body of a success; absent: none. */
  readonly response?: Content;
  /** Headers of a success beyond those of every response. */
  readonly replyHeaders?: readonly ReplyHeader[];
  readonly examples?: { readonly request?: Examples; readonly response?: Examples };
  /** 204 where there is nothing to send. */
  readonly orNothing?: true;
  /** Accepts `Range`: then 206, or 416 when there is no such range. */
  readonly ranges?: true;
  /** Statuses of failures beyond 401 (keyed routes) and 500 (all). */
  readonly errors?: readonly number[];
}

/** Headers of responses, as the document has them. */
export const replyHeaders = {
  'x-request-id': Type.String({ description: 'Id of the request, in logs and usage too' }),
  'request-id': Type.String({ description: 'The same as `x-request-id`, for clients that read this one' }),
  'retry-after': Type.Integer({ description: 'Whole seconds to wait before a retry' }),
  'x-should-retry': Type.Literal('false', { description: 'A retry cannot help' }),
  'x-stream-first': Type.Integer({ description: 'On 410 of a stream: the first event that is still kept' }),
  'x-stream-id': Type.String({ description: 'Of a resumable stream: the id to come back with' }),
  'sluice-resumable': Type.Integer({ description: 'Of a resumable stream: seconds it waits for its client' }),
  'x-usage-seconds': Type.Integer({ description: 'Billed seconds of audio; not on a raw pcm stream' }),
  'x-usage-cost': Type.Number({ description: 'US dollars; not on a raw pcm stream' }),
  'content-range': Type.String({ description: 'On 206 and 416: which bytes of how many' }),
  'x-ratelimit-limit-requests': Type.Integer({ description: 'Requests per minute for this model' }),
  'x-ratelimit-remaining-requests': Type.Integer({ description: 'How many were left when this one started' }),
  'x-ratelimit-reset-requests': Type.String({ description: 'Time until all are, such as `59s`' }),
  'anthropic-ratelimit-requests-limit': Type.Integer({ description: 'Requests per minute for this model' }),
  'anthropic-ratelimit-requests-remaining': Type.Integer({
    description: 'How many were left when this one started',
  }),
  'anthropic-ratelimit-requests-reset': Type.String({ description: 'When all are, a time as of RFC 3339' }),
  'x-sluice-replica': Type.String({ description: 'The replica that answered: engine and number' }),
  'x-sluice-attempts': Type.Integer({ description: 'Calls that were sent to engines' }),
  'x-sluice-queue-ms': Type.Number({ description: 'Milliseconds waiting for a slot and a replica' }),
  'x-sluice-engine-ms': Type.Number({ description: 'Milliseconds until the first byte of the engine' }),
  'x-sluice-overhead-ms': Type.Number({ description: 'Milliseconds in the gateway, without waiting' }),
  'x-sluice-cached-tokens': Type.Integer({
    description: 'Prompt tokens that came from a cache; not on streams',
  }),
};
export type ReplyHeader = keyof typeof replyHeaders;

/** What a 429 of a limit on tokens, of a limit of the key or of a budget names. */
const refusedBy = {
  limit: Type.Optional(
    Type.Object(
      {
        kind: Type.String({ description: '`tokens_per_minute`, `concurrency` …' }),
        scope: Type.Enum(['key', 'subscription'], { description: 'What the limit is for' }),
        model: Type.Optional(Type.String({ description: 'The model that it is for; absent: all' })),
        limit: Type.Integer({ description: 'What is allowed' }),
        remaining: Type.Integer({ description: 'What is left of it' }),
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
        id: Type.String({ description: 'Id of the budget' }),
        period: Type.Enum(['day', 'week', 'month', 'total'], {
          description: 'How often it starts again from zero',
        }),
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
    message: Type.String({ description: 'Text for people; a validation error begins with the field' }),
    type: Type.String({ description: 'Type of the error, such as `validation_error`' }),
    param: Nullable(Type.String(), 'Path of the field at fault, if one is'),
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
    type: Type.String({ description: 'Type of the error, such as `invalid_request_error`' }),
    message: Type.String({ description: 'Text for people; a validation error begins with the field' }),
    details: Type.Optional(
      Type.Object(
        {
          error_code: Type.Optional(Type.String({ description: 'More exact, where clients look for it' })),
          ...refusedBy,
        },
        { description: 'More for programs' },
      ),
    ),
  }),
  request_id: Type.String({ description: 'The same as the header `request-id`' }),
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
