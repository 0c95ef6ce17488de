/** GET /usage: what the caller's subscription used in a period, page by page. */
import { from, map } from 'rxjs';
import type { UsageList, UsageRequestRow } from '../../schemas/usage.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { currentMonth, readTime, timeForms } from '../../src/billing/period.ts';
import { requestRow, totalRow } from '../../src/billing/usage-rows.ts';
import { type Exchange, jsonReply, type KeyedPipeline, type KeyedRequest } from '../../src/ports/exchange.ts';
import type { UsageFilter, UsageGroup } from '../../src/ports/ledger.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { readLimit } from '../core/page.ts';
import type { Step } from '../core/stage.ts';

export const usage = ({ ledger, vectorStores }: Pick<Ports, 'ledger' | 'vectorStores'>): KeyedPipeline =>
  compose(
    readUsageQuery(groupWords), // 400 names the parameter
    queryLedger(ledger), // 503 while the ledger is unavailable
    addStorage(vectorStores), // 503 while the state is unavailable
    (list) => jsonReply(list),
  );

const queryLedger =
  (ledger: Ports['ledger']): Step<UsageRequest, UsageOfPeriod, KeyedRequest> =>
  (request, { caller }) =>
    from(usageOfPeriod(ledger, { subscription: caller.subscription }, request, requestRow));

type Names = Omit<UsageFilter, 'from' | 'to'>;

/** Of all subscriptions where `names` has none. `rowOf` shows a single request. */
export const usageOfPeriod = async (
  ledger: Pick<Ports['ledger'], 'list' | 'totals'>,
  names: Names,
  request: UsageRequest,
  rowOf: (event: UsageEvent) => UsageRequestRow,
): Promise<UsageOfPeriod> => {
  const { groups } = request;
  const page = await readPage(ledger, names, request, rowOf);
  return { ...listOfPage(page, request), group_by: groups === 'request' ? [groups] : [...groups] };
};

export type UsageOfPeriod = Omit<UsageList, 'storage'>;

const addStorage =
  (vectorStores: Ports['vectorStores']): Step<UsageOfPeriod, UsageList, KeyedRequest> =>
  (list, { caller }) =>
    from(vectorStores.storage(caller.subscription)).pipe(
      map(({ used, limits }) => ({ ...list, storage: { ...used, limits } })),
    );

interface UsagePage<Row> {
  /** One row more than requested, where there is another page. */
  readonly data: readonly Row[];
  /** Of the last row. */
  readonly cursor: string;
}

/** One row more than requested shows whether there is another page. */
const readPage = async (
  ledger: Pick<Ports['ledger'], 'list' | 'totals'>,
  names: Names,
  { period, groups, limit, after }: UsageRequest,
  rowOf: (event: UsageEvent) => UsageRequestRow,
): Promise<UsagePage<UsageList['data'][number]>> => {
  const filter = { ...period, ...names };
  if (groups === 'request') {
    const place = after === undefined ? {} : { after: { time: Number(after[0]), id: after[1] ?? '' } };
    const events = await ledger.list(filter, { limit: limit + 1, ...place });
    const last = events[limit - 1];
    return {
      data: events.map(rowOf),
      cursor: last === undefined ? '' : writeCursor([String(last.time), last.id]),
    };
  }
  const totals = await ledger.totals(filter, groups, {
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
  });
  return {
    data: totals.map((total) => totalRow(groups, total)),
    cursor: writeCursor(totals[limit - 1]?.group ?? []),
  };
};

export const listOfPage = <Row>(
  { data, cursor }: UsagePage<Row>,
  { path, query, period, limit }: Pick<UsageRequest, 'path' | 'query' | 'period' | 'limit'>,
) => {
  const more = data.length > limit;
  const next = new URLSearchParams(query);
  next.set('after', cursor);
  return {
    object: 'list' as const,
    from: Math.floor(period.from / 1000),
    to: Math.floor(period.to / 1000),
    data: data.slice(0, limit),
    has_more: more,
    links: { next: more ? `${path}?${next}` : null },
  };
};

/** A key sees its own subscription only, so that is no group. */
const groupWords = ['day', 'model', 'key', 'route'] as const;

export interface UsageRequest {
  /** Of the route, for the link to the next page. */
  readonly path: string;
  /** As it was sent, for the link to the next page. */
  readonly query: URLSearchParams;
  readonly period: { readonly from: number; readonly to: number };
  readonly groups: readonly UsageGroup[] | 'request';
  readonly limit: number;
  /** What the cursor holds: the values of the last total, or time and id of the last request. */
  readonly after: readonly string[] | undefined;
}

export const readUsageQuery =
  (words: readonly UsageGroup[], path = '/v1/usage') =>
  (exchange: Pick<Exchange, 'query'>): UsageRequest => {
    const query = new URLSearchParams(exchange.query);
    const period = readPeriod(query);
    const groups = readGroups(query.get('group_by') ?? 'day', words);
    return {
      path,
      query,
      period,
      groups,
      limit: readLimit(query, 100, 1000),
      after: readCursor(query, groups),
    };
  };

/** This month unless it is given. */
export const readPeriod = (query: URLSearchParams): UsageRequest['period'] => {
  const usual = currentMonth(Date.now());
  const period = { from: time(query, 'from') ?? usual.from, to: time(query, 'to') ?? usual.to };
  if (period.from >= period.to) throw invalid('from must be before to');
  return period;
};

const time = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  const read = readTime(text);
  if (read === undefined) throw invalid(`${name} must be ${timeForms}`);
  return read;
};

const readGroups = (text: string, allowed: readonly UsageGroup[]): UsageRequest['groups'] => {
  if (text === 'request') return 'request';
  const words = text.split(',');
  const groups = allowed.filter((group) => words.includes(group));
  if (groups.length !== words.length)
    throw invalid(`group_by must be some of ${allowed.join(', ')}, each once, or request alone`);
  return words as UsageGroup[];
};

export const writeCursor = (values: readonly string[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

export const readCursor = (query: URLSearchParams, groups: UsageRequest['groups']): UsageRequest['after'] => {
  const text = query.get('after');
  if (text === null) return undefined;
  const values = parsed(Buffer.from(text, 'base64url').toString());
  const length = groups === 'request' ? 2 : groups.length;
  const fits =
    Array.isArray(values) &&
    values.length === length &&
    values.every((value): value is string => typeof value === 'string') &&
    (groups !== 'request' || /^\d{1,15}$/.test(values[0] ?? ''));
  if (!fits) throw invalid('after must be a cursor out of links.next, with the same group_by');
  return values;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
