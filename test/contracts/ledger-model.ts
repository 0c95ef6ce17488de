/** The reference model of the ledger, in memory. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { add, formatScaled, type Scaled, toScaled } from '../../src/helpers/decimal.ts';
import { filteredBy, type Ledger, type UsageFilter, type UsageGroup } from '../../src/ports/ledger.ts';

export const createModelLedger = (): Ledger => {
  const events = new Map<string, UsageEvent>();

  const matching = ({ from, to, ...names }: UsageFilter) =>
    [...events.values()]
      .filter((event) => event.time >= from && event.time < to)
      .filter((event) => filteredBy.every((name) => names[name] === undefined || event[name] === names[name]))
      .sort((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1));

  return {
    insert: async (given) => {
      for (const event of given) if (!events.has(event.id)) events.set(event.id, event);
    },
    totals: async (filter, groups, { after, limit }) => {
      const rows = new Map<string, UsageEvent[]>();
      for (const event of matching(filter)) {
        const key = groups.map((group) => groupOf(event, group)).join('\n');
        rows.set(key, [...(rows.get(key) ?? []), event]);
      }
      return [...rows.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .filter(([key]) => after === undefined || groups.length === 0 || key > after.join('\n'))
        .slice(0, limit)
        .map(([key, members]) => total(groups.length === 0 ? [] : key.split('\n'), members));
    },
    list: async (filter, { after, limit, order }) => {
      const found = matching(filter);
      const ordered = order === 'desc' ? found.reverse() : found;
      const place = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after.id);
      return ordered.slice(place + 1, place + 1 + limit);
    },
    find: async (asked) =>
      asked.flatMap(({ id }) => {
        const event = events.get(id);
        return event === undefined ? [] : [{ id, cost: event.cost }];
      }),
    check: async () => undefined,
    close: async () => undefined,
  };
};

const groupOf = (event: UsageEvent, group: UsageGroup): string =>
  group in lengths
    ? `${new Date(event.time).toISOString().slice(0, lengths[group as keyof typeof lengths])}${group === 'hour' ? ':00Z' : ''}`
    : event[group as 'model'];

const lengths = { month: 7, day: 10, hour: 13 };

const total = (group: readonly string[], events: readonly UsageEvent[]) => {
  const billed = events.filter(({ outcome }) => outcome !== 'failed');
  const sum = (value: (event: UsageEvent) => number) => billed.reduce((all, event) => all + value(event), 0);
  const exact = (value: (event: UsageEvent) => string | undefined) =>
    formatScaled(
      billed.reduce<Scaled>((all, event) => add(all, toScaled(value(event) ?? '0')), { units: 0n, scale: 0 }),
    );
  return {
    group,
    requests: events.length,
    failed: events.length - billed.length,
    prompt_tokens: sum(({ quantities }) => quantities.prompt_tokens),
    completion_tokens: sum(({ quantities }) => quantities.completion_tokens),
    cached_tokens: sum(({ quantities }) => quantities.cached_tokens),
    reasoning_tokens: sum(({ quantities }) => quantities.reasoning_tokens),
    inputs: sum(({ quantities }) => quantities.inputs ?? 0),
    megapixels: exact(({ quantities }) => quantities.megapixels),
    seconds: exact(({ quantities }) => quantities.seconds),
    cost: exact(({ cost }) => cost),
  };
};
