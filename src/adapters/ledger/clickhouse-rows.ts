/** Converts usage events to ClickHouse rows; failed requests have no quantities. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { billedColumns } from './day-sums.ts';

/** The table's days end a little later. */
export const endOfTime = Date.UTC(2100, 0, 1);

const facts = ['time', 'subscription', 'key', 'route', 'model', 'engine', 'outcome', 'status'] as const;
export const columns = ['id', ...facts, ...billedColumns, 'event'] as const;

export const rowOf = (event: UsageEvent, text = JSON.stringify(event)): readonly (string | number)[] => {
  const { quantities, outcome } = event;
  const billed = outcome !== 'failed';
  return [
    event.id,
    new Date(event.time).toISOString().slice(0, -1).replace('T', ' '),
    event.subscription,
    event.key,
    event.route,
    event.model,
    event.engine,
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
    text,
  ];
};
