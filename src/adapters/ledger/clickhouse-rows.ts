/** Writes usage events as rows of tab-separated values for ClickHouse; failed requests have no quantities. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { billedColumns } from './day-sums.ts';

/** The table's days end a little later. */
export const endOfTime = Date.UTC(2100, 0, 1);

const facts = ['time', 'subscription', 'key', 'route', 'model', 'engine', 'outcome', 'status'] as const;
export const columns = ['id', ...facts, ...billedColumns, 'event'] as const;

/** With its newline, in the order of the columns. */
export const rowOf = (event: UsageEvent, text = JSON.stringify(event)): string => {
  const { outcome, status } = event;
  const time = new Date(event.time).toISOString().slice(0, -1).replace('T', ' ');
  const names = [event.subscription, event.key, event.route, event.model, event.engine];
  return (
    `${escaped(event.id)}\t${time}\t${names.map(escaped).join('\t')}\t${outcome}\t${status}\t` +
    `${outcome === 'failed' ? nothing : billed(event)}\t${event.cost}\t${escaped(text)}\n`
  );
};

const nothing = '0\t0\t0\t0\t0\t0\t0';
const billed = ({ quantities }: UsageEvent): string => {
  const { inputs = 0, megapixels = '0', seconds = '0' } = quantities;
  return (
    `${quantities.prompt_tokens}\t${quantities.completion_tokens}\t${quantities.cached_tokens}\t` +
    `${quantities.reasoning_tokens}\t${inputs}\t${megapixels}\t${seconds}`
  );
};

/** JSON has few of them: its quotes stay as they are, which is why rows are not JSON themselves. */
const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const escaped = (value: string): string =>
  special.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? '') : value;
