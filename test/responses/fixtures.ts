/** Runs the responses pipeline on test ports without sockets, files or engines. */
import { lastValueFrom, toArray } from 'rxjs';
import { responses } from '../../pipelines/responses/responses.ts';
import type { Response } from '../../schemas/responses/response.ts';
import type { ChatCall } from '../../src/ports/engines/chat.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { bodyOf, callMadeBy, exchange, type Harness, harness, refusalOf, run } from '../chat/fixtures.ts';

export { streamOf } from '../chat/fixtures.ts';

export const ask = (body: unknown, { ports }: Harness = harness()): Promise<readonly Reply[]> =>
  lastValueFrom(run(responses(ports), exchange(body)).pipe(toArray()));

export const refusal = (body: unknown, at: Harness = harness()): Promise<string> => refusalOf(ask(body, at));

export const callOf = (body: object, at: Harness = harness()): Promise<ChatCall> =>
  callMadeBy(ask({ input: 'Hi', ...body }, at), at);

export const answerOf = (replies: readonly Reply[]): Response => bodyOf(replies);
