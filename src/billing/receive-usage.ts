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
  readonly event: UsageEvent;
  readonly message: ReceivedMessage;
}

export const receiveUsage =
  (ledger: Pick<Ledger, 'insert'>): Receiver =>
  async (messages) => {
    const events: Numbered[] = [];
    const rejected: Rejected[] = [];
    for (const [index, message] of messages.entries()) {
      try {
        events.push(numbered(message, index));
      } catch (error) {
        rejected.push({ index, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    return [...rejected, ...(await insert(ledger, events))];
  };

/** What did not leave the process is what its type says, and its JSON is made only for who asks; other is decoded once. */
const numbered = (message: ReceivedMessage, index: number): Numbered => {
  if (message.event !== undefined) return { index, message, event: message.event };
  const value = readText(message);
  return { index, message: { value }, event: checked(JSON.parse(value)) };
};

const readText = ({ value }: ReceivedMessage): string =>
  typeof value === 'string' ? value : utf8.decode(value);

const checked = (event: unknown): UsageEvent => {
  if (check.Check(event)) return event;
  const [fault] = check.Errors(event);
  throw new Error(`not a usage event of version 1: ${fault?.instancePath || 'it'} ${fault?.message ?? ''}`);
};

const textAt = (events: readonly Numbered[], place: number): string => {
  const found = events[place];
  if (found === undefined) throw new Error(`There is no event ${place}.`);
  return readText(found.message);
};

/** Rows that the ledger refuses for what they hold are found by halving, so that the others are counted. */
const insert = async (
  ledger: Pick<Ledger, 'insert'>,
  events: readonly Numbered[],
): Promise<readonly Rejected[]> => {
  if (events.length === 0) return [];
  try {
    await ledger.insert(
      events.map(({ event }) => event),
      (place) => textAt(events, place),
    );
    return [];
  } catch (error) {
    if (error instanceof ApiError) throw error; // unavailable: the whole batch is given again
    const [first] = events;
    if (events.length === 1 && first !== undefined)
      return [{ index: first.index, reason: error instanceof Error ? error.message : String(error) }];
    const half = events.length >> 1;
    return [...(await insert(ledger, events.slice(0, half))), ...(await insert(ledger, events.slice(half)))];
  }
};
