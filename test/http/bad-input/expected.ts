/** The expected responses to malformed requests. */
import { namedField } from '../../envelope.ts';

export type Outcome =
  /** The error in the route's own format, whole. */
  | {
      readonly status: number;
      readonly message: string;
      readonly errorType?: string;
      readonly messages?: true;
    }
  /** An answer that is none of ours: the server library cannot parse the request and says so itself. */
  | { readonly library: number; readonly body: string }
  /** The connection is closed, or left waiting for more, without an answer. */
  | 'closed'
  | 'waiting'
  /** Nothing is wrong with it after all. */
  | 'fine';

export interface Case {
  readonly name: string;
  readonly bytes: string | Buffer;
  readonly expected: Outcome | { readonly uws: Outcome; readonly node: Outcome };
  /** The answer to HEAD has no body. */
  readonly head?: true;
}

const types: Readonly<Record<number, readonly [type: string, errorType: string, messagesType: string]>> = {
  400: ['validation_error', 'invalid_request', 'invalid_request_error'],
  401: ['auth_error', 'authentication', 'authentication_error'],
  404: ['not_found_error', 'not_found', 'not_found_error'],
  405: ['invalid_request_error', 'invalid_request', 'invalid_request_error'],
  413: ['invalid_request_error', 'payload_too_large', 'request_too_large'],
  422: ['validation_error', 'unprocessable', 'invalid_request_error'],
};

export const errorEnvelope = (
  { status, message, messages }: { status: number; message: string; messages?: true },
  requestId: string | undefined,
): unknown => {
  const [type, errorType, messagesType] = types[status] ?? [];
  return messages === true
    ? { type: 'error', error: { type: messagesType, message }, request_id: requestId }
    : {
        error: {
          code: status,
          message,
          type,
          param: namedField(status, message),
          metadata: { error_type: errorType },
        },
      };
};

/** uWebSockets.js has one release for Node 20 and another for those after it. */
export const sinceNode22 = (before: Outcome, since: Outcome): Outcome =>
  Number(process.versions.modules) < 127 ? before : since;
