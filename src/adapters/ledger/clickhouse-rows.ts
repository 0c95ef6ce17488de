/** Writes usage events as rows of tab-separated values for ClickHouse; failed requests have no quantities. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { billedColumns } from './day-sums.ts';

/** The table's days end a little later. */
export const endOfTime = Date.UTC(2100, 0, 1);

const facts = ['time', 'subscription', 'key', 'route', 'model', 'engine', 'outcome', 'status'] as const;
export const columns = ['id', ...facts, ...billedColumns, 'event'] as const;

/** With its newline, in the order of the columns. */
export const rowOf = (event: UsageEvent, text = JSON.stringify(event)): string => {
  const { quantities, outcome } = event;
  const billed = outcome !== 'failed';
  const fields = [
    escaped(event.id),
    timeText(event.time),
    escaped(event.subscription),
    escaped(event.key),
    escaped(event.route),
    escaped(event.model),
    escaped(event.engine),
    outcome,
    event.status,
    billed ? quantities.prompt_tokens : 0,
    billed ? quantities.completion_tokens : 0,
    billed ? quantities.cached_tokens : 0,
    billed ? quantities.reasoning_tokens : 0,
    billed ? (quantities.inputs ?? 0) : 0,
    billed ? (quantities.megapixels ?? '0') : '0',
    billed ? (quantities.seconds ?? '0') : '0',
    event.cost,
    escaped(text),
  ];
  return `${fields.join('\t')}\n`;
};

let second = -1;
let secondText = '';

/** Events that come together are mostly of one second; formatting each would take a third of the time of a row. */
const timeText = (time: number): string => {
  const milliseconds = time % 1000;
  if (time - milliseconds !== second) {
    second = time - milliseconds;
    secondText = new Date(second).toISOString().slice(0, -4).replace('T', ' ');
  }
  return secondText + String(milliseconds).padStart(3, '0');
};

/**
 * JSON has few such characters; its quotes stay as they are, which is why rows are not JSON themselves. Looking first
 * makes a row take 3 µs instead of 8.
 */
const escaped = (value: string): string =>
  special.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '') : value;
const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
