/** `/usage`: what all subscriptions used and what it costs, in totals, request by request, or event by event. */
import {
  listOfPage,
  readCursor,
  readPeriod,
  readUsageQuery,
  usageOfPeriod,
  writeCursor,
} from '../../../pipelines/account/usage.ts';
import { invalid } from '../../../pipelines/core/checks.ts';
import { readLimit } from '../../../pipelines/core/page.ts';
import {
  AdminUsageEventList,
  AdminUsageEventsQuery,
  AdminUsageList,
  AdminUsageQuery,
} from '../../../schemas/admin/usage.ts';
import { requestRow } from '../../billing/usage-rows.ts';
import { filteredBy, mostHours, type UsageFilter, usageGroups } from '../../ports/ledger.ts';
import type { Management } from '../management.ts';
import { type AdminRoute, route } from '../route.ts';

const tag = 'Usage';
const csv = { 'text/csv': { type: 'string', description: 'All rows, after a line of names' } } as const;
const hour = 3_600_000;
/** As long as the names in usage events. */
const longestName = 512;

const read = readUsageQuery(usageGroups, '/admin/v1/usage');

/** An id of a subscription is taken as it is: it may be gone, its usage is not. */
const namesOf = async (
  { keys }: Management,
  query: URLSearchParams,
): Promise<Omit<UsageFilter, 'from' | 'to'>> => {
  if (!['json', 'csv'].includes(query.get('format') ?? 'json')) throw invalid('format must be json or csv');
  const given: [string, string][] = [];
  for (const name of filteredBy) {
    const value = query.get(name) ?? '';
    if (value.length > longestName) throw invalid(`${name} must have at most ${longestName} characters`);
    if (value === '') continue;
    const isName = name === 'subscription' && !value.startsWith('sub_');
    given.push([name, isName ? (await keys.findSubscription(value)).id : value]);
  }
  return Object.fromEntries(given);
};

export const usage: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/usage',
    doc: {
      tag,
      summary: 'What was used and what it costs, in totals or request by request',
      query: AdminUsageQuery,
      response: { 'application/json': AdminUsageList, ...csv },
      errors: [400, 404, 503],
    },
    run: async ({ parts: { ledger }, manage, query }) => {
      const request = read({ query: query.toString() });
      const { from, to } = request.period;
      if (request.groups.includes('hour') && to - from > mostHours * hour)
        throw invalid(
          `group_by can be hour for at most ${mostHours / 24} days: from and to are further apart`,
        );
      const names = await namesOf(manage, query);
      const value = await usageOfPeriod(ledger, names, request, (event) => ({
        ...requestRow(event),
        subscription: event.subscription,
      }));
      return { value };
    },
  }),
  route({
    method: 'GET',
    path: '/usage/events',
    doc: {
      tag,
      summary: 'Single usage events, the newest first',
      query: AdminUsageEventsQuery,
      response: { 'application/json': AdminUsageEventList, ...csv },
      errors: [400, 404, 503],
    },
    run: async ({ parts: { ledger }, manage, query }) => {
      const period = readPeriod(query);
      const limit = readLimit(query, 100, 1000);
      const [time, id] = readCursor(query, 'request') ?? [];
      const filter = { ...period, ...(await namesOf(manage, query)) };
      const place = id === undefined ? {} : { after: { time: Number(time), id } };
      const found = await ledger.list(filter, { limit: limit + 1, order: 'desc', ...place });
      const last = found[limit - 1];
      const cursor = last === undefined ? '' : writeCursor([String(last.time), last.id]);
      const data = found.map((event) => ({ object: 'usage.event' as const, ...event }));
      const path = '/admin/v1/usage/events';
      return { value: listOfPage({ data, cursor }, { path, query, period, limit }) };
    },
  }),
];
