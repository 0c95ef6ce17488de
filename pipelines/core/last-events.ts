/** The last events of a stream that was cancelled, or whose gateway is gone, in the format that its first event shows. */
import { type ApiError, errorBody, fail } from '../../src/errors.ts';
import type { LastEvents } from '../../src/ports/streams.ts';
import { EventIds } from './event-ids.ts';

/** A client cancelled it. */
export const cancelledEvents: LastEvents = (opening, next) => {
  const { response } = dataOf(opening);
  if (response === undefined)
    return numbered(next, failed(opening, next, fail('conflict', 'The stream was cancelled')));
  return numbered(next, responseEvent('response.incomplete', next, { ...response, status: 'cancelled' }));
};

/** The gateway that wrote it died. */
export const lostEvents: LastEvents = (opening, next) =>
  numbered(next, failed(opening, next, fail('unavailable', 'The gateway that wrote this stream is gone')));

const numbered = (next: number, events: string): ReturnType<LastEvents> => {
  const ids = new EventIds(next);
  const text = ids.number(events);
  return { text, count: ids.next - next };
};

interface Opening {
  readonly object?: string;
  readonly type?: string;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export const dataOf = (event: string): Opening => {
  const [, data] = /^data: (\{.*)$/m.exec(event) ?? [];
  return data === undefined ? {} : (JSON.parse(data) as Opening);
};

const done = 'data: [DONE]\n\n';

/** As the framing of each format reports a failure; an answer's other choices are not known here. */
const failed = (opening: string, next: number, error: ApiError): string => {
  const { object, type = '', response, context: _, ...rest } = dataOf(opening);
  const body = errorBody(error);
  if (object === 'chat.completion.chunk') {
    const choice = {
      index: 0,
      delta: { content: '' },
      finish_reason: 'error',
      native_finish_reason: 'error',
    };
    return data({ ...rest, object, choices: [choice], error: body }) + done;
  }
  if (object === 'text_completion') {
    const choice = { index: 0, text: '', logprobs: null, finish_reason: 'error' };
    return data({ ...rest, object, choices: [choice], error: body }) + done;
  }
  if (type === 'message_start')
    return (
      event('error', { error: { type: 'api_error', message: error.message } }) + event('message_stop', {})
    );
  if (response !== undefined) return failedResponse(response, next, error);
  const [, kind] = /^(speech\.audio|transcript\.text)\./.exec(type) ?? [];
  return event(kind === undefined ? 'error' : `${kind}.error`, { error: body });
};

const failedResponse = (
  response: Readonly<Record<string, unknown>>,
  next: number,
  error: ApiError,
): string => {
  const { message, metadata } = errorBody(error);
  const code = metadata.code ?? metadata.error_type;
  const failure = { ...response, status: 'failed', error: { code: 'server_error', message } };
  return (
    event('error', { sequence_number: next, code, message, param: null }) +
    responseEvent('response.failed', next + 1, failure)
  );
};

const responseEvent = (type: string, sequence: number, response: object): string =>
  event(type, { sequence_number: sequence, response });

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: object): string => `event: ${type}\n${data({ type, ...fields })}`;
