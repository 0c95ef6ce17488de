/** Runs the messages pipelines on test ports without sockets, files or engines. */
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { messagesCountTokens } from '../../pipelines/messages/count-tokens.ts';
import { messages } from '../../pipelines/messages/messages.ts';
import type { Message } from '../../schemas/messages/response.ts';
import type { ChatCall, Parts } from '../../src/ports/engines/chat.ts';
import type { KeyedPipeline, Reply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { State, StoredRecord } from '../../src/ports/state.ts';
import { bodyOf, callMadeBy, harness as chatHarness, exchange, type Harness, run } from '../chat/fixtures.ts';

export { type Harness, refusalOf as refusal, streamOf } from '../chat/fixtures.ts';

/** Keeps what is created, and no more than that. */
export const keepingState = (): Pick<State, 'create' | 'get'> => {
  const records = new Map<string, unknown>();
  return {
    create: async (kind, record) => {
      const id = `${kind}/${record.id}`;
      if (records.has(id)) return false;
      records.set(id, { ...record, version: 1 });
      return true;
    },
    get: async <T>(kind: string, id: string) => records.get(`${kind}/${id}`) as StoredRecord<T> | undefined,
  };
};

export const harness = (answer?: Observable<Parts>, change: Partial<Ports> = {}): Harness => {
  const plain = chatHarness(answer, change);
  return {
    ...plain,
    ports: { ...plain.ports, state: { ...plain.ports.state, ...keepingState(), ...change.state } },
  };
};

const asked = (pipeline: KeyedPipeline, body: unknown): Promise<readonly Reply[]> =>
  lastValueFrom(run(pipeline, { ...exchange(body), dialect: 'messages' }).pipe(toArray()));

export const ask = (body: unknown, { ports }: Harness = harness()): Promise<readonly Reply[]> =>
  asked(messages(ports), body);

/** One gateway that is asked again and again. */
export const asking = ({ ports }: Harness): ((body: unknown) => Promise<readonly Reply[]>) => {
  const pipeline = messages(ports);
  return (body) => asked(pipeline, body);
};

export const count = (body: unknown, { ports }: Harness = harness()): Promise<readonly Reply[]> =>
  asked(messagesCountTokens(ports), body);

export const answerOf = (replies: readonly Reply[]): Message => bodyOf(replies);

export const callOf = (body: object, at: Harness = harness()): Promise<ChatCall> =>
  callMadeBy(
    ask({ model: 'mock/chat', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body }, at),
    at,
  );
