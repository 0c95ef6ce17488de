/** Usage events as messages: read from a journal, or as they wait in memory to be shipped. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { EventMessage } from '../ports/events.ts';
import { eventJson } from './event-json.ts';
import { jsonOfLines } from './journal/line.ts';

export const messageOf = (json: string): EventMessage => ({
  key: (JSON.parse(json) as UsageEvent).subscription,
  value: json,
});

/** Its JSON is built on demand: strings that wait with an event would be copied by the garbage collector. */
export class MessageOfEvent implements EventMessage {
  readonly event: UsageEvent;

  constructor(event: UsageEvent) {
    this.event = event;
  }

  get key(): string {
    return this.event.subscription;
  }

  get value(): string {
    return eventJson(this.event);
  }
}

/** From journal lines, which are copied. Only their bytes wait then: the garbage collector need not copy events. */
export const messagesOfLines = (lines: Buffer, events: readonly UsageEvent[]): EventMessage[] => {
  const texts = jsonOfLines(Buffer.from(lines));
  return events.map(({ subscription }, index) => ({ key: subscription, value: texts[index] as Buffer }));
};
