/** The responses pipeline on ports made by hand: no sockets, files or engines. */
import { lastValueFrom, toArray } from 'rxjs';
import { responses } from '../../pipelines/responses.ts';
import type { Response } from '../../schemas/responses.ts';
import { ApiError } from '../../src/errors.ts';
import type { ChatCall } from '../../src/ports/chat.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { caller, exchange, type House, house } from '../chat/hand-made.ts';

export const ask = (body: unknown, { ports }: House = house()): Promise<readonly Reply[]> =>
  lastValueFrom(responses(ports)(exchange(body), caller).pipe(toArray()));

/** Status and message of a request that fails. */
export const refusal = async (body: unknown, at: House = house()): Promise<string> => {
  try {
    await ask(body, at);
    return 'answered';
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.message}`;
    throw error;
  }
};

/** The call that reached the engine. */
export const callOf = async (body: object, at: House = house()): Promise<ChatCall> => {
  const refused = await refusal({ input: 'Hi', ...body }, at);
  const call = at.calls[0]?.call;
  if (call === undefined) throw new Error(refused);
  return call;
};

/** The one answer of a request that is not streamed. */
export const answerOf = (replies: readonly Reply[]): Response => {
  const [answer] = replies;
  if (answer?.kind !== 'answer' || replies.length !== 1) throw new Error('not one answer');
  return JSON.parse(String(answer.body)) as Response;
};

/** The text of a stream. */
export const streamOf = (replies: readonly Reply[]): string => {
  const [head, ...rest] = replies;
  if (head?.kind !== 'head') throw new Error('no stream');
  return rest.map((reply) => (reply.kind === 'bytes' ? String(reply.bytes) : '')).join('');
};
