/** Inserts messages of the usage topic into the ledger; returns those it rejects, with the reason. */
import { Compile } from 'typebox/compile';
import { UsageEvent } from '../../schemas/usage-event.ts';
import { ApiError } from '../errors.ts';
import type { ReceivedMessage, Receiver, Rejected } from '../ports/events.ts';
import type { Ledger } from '../ports/ledger.ts';

const check = Compile(UsageEvent);
const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Numbered {
  /** Place in the batch. */
  readonly index: number;
  readonly message: ReceivedMessage;
}

export const receiveUsage =
  (ledger: Pick<Ledger, 'insert'>): Receiver =>
  (messages) =>
    insert(
      ledger,
      messages.map((message, index) => ({ index, message })),
    );

/** Rows that the ledger refuses for what they hold are found by halving, so that the others are counted. */
const insert = async (
  ledger: Pick<Ledger, 'insert'>,
  messages: readonly Numbered[],
): Promise<readonly Rejected[]> => {
  const [first] = messages;
  if (first === undefined) return [];
  const batch = new Batch(messages);
  try {
    await ledger.insert(batch, (place) => batch.textAt(place));
    return batch.rejected;
  } catch (error) {
    if (error instanceof ApiError) throw error; // unavailable: the whole batch is given again
    if (messages.length === 1) return [{ index: first.index, reason: reasonOf(error) }];
    const half = messages.length >> 1;
    return [
      ...(await insert(ledger, messages.slice(0, half))),
      ...(await insert(ledger, messages.slice(half))),
    ];
  }
};

/** The events of messages, each read when the ledger asks for it; messages that are no events are rejected on the way. */
class Batch implements Iterable<UsageEvent> {
  readonly rejected: Rejected[] = [];
  readonly #messages: readonly Numbered[];
  /** Those with the events that were read so far. */
  readonly #read: ReceivedMessage[] = [];

  constructor(messages: readonly Numbered[]) {
    this.#messages = messages;
  }

  *[Symbol.iterator](): Iterator<UsageEvent> {
    for (const { index, message } of this.#messages) {
      let event: UsageEvent;
      try {
        event = eventOf(message);
      } catch (error) {
        this.rejected.push({ index, reason: reasonOf(error) });
        continue;
      }
      this.#read.push(message);
      yield event;
    }
  }

  textAt(place: number): string {
    const message = this.#read[place];
    if (message === undefined) throw new Error(`There is no event ${place}.`);
    return textOf(message);
  }
}

/** What did not leave the process is what its type says. */
const eventOf = (message: ReceivedMessage): UsageEvent =>
  message.event ?? checked(JSON.parse(textOf(message)));

const textOf = ({ value }: ReceivedMessage): string =>
  typeof value === 'string' ? value : utf8.decode(value ?? undefined);

const checked = (event: unknown): UsageEvent => {
  if (check.Check(event)) return event;
  const [fault] = check.Errors(event);
  throw new Error(`not a usage event of version 1: ${fault?.instancePath || 'it'} ${fault?.message ?? ''}`);
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
