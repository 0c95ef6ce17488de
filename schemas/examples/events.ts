/** Writes examples of event streams as they are sent. */

type Event = Readonly<Record<string, unknown>> | '[DONE]';

/** Events without names. */
export const dataEvents = (events: readonly Event[]): string => events.map(dataOf).join('');

/** Events named by their `type`. */
export const namedEvents = (events: readonly Event[]): string =>
  events.map((event) => (event === '[DONE]' ? '' : `event: ${event.type}\n`) + dataOf(event)).join('');

const dataOf = (event: Event): string => `data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`;
