/** Reads usage, events, budgets and names from the admin API, page by page and up to a bound. */
import type { AdminBudget } from '../../../../../schemas/admin/budgets.ts';
import type { AdminUsageEvent, AdminUsageEventList } from '../../../../../schemas/admin/usage.ts';
import { adminJson } from '../../api/admin.ts';
import type { Query } from '../../api/http.ts';
import type { Period, Unit } from './period.ts';
import type { Stack, UsageRow } from './totals.ts';

const pageSize = 1_000;
const mostPages = 20;
const mostEventPages = 50;
export const mostJsonEvents = mostEventPages * pageSize;

export interface Filters {
  readonly subscription: string;
  readonly key: string;
  readonly model: string;
  readonly route: string;
}
export const noFilters: Filters = { subscription: '', key: '', model: '', route: '' };

interface Page<Row> {
  readonly data: readonly Row[];
  readonly links: { readonly next: string | null };
}

export interface All<Row> {
  readonly rows: readonly Row[];
  /** False: there are more than the bound. */
  readonly isComplete: boolean;
}

/** `after` of the next page; undefined: there is none. */
export const cursorOf = ({ links: { next } }: Pick<Page<unknown>, 'links'>): string | undefined =>
  next === null
    ? undefined
    : (new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after') ?? undefined);

const allOf = async <Row>(
  path: string,
  query: Query,
  bound: number,
  signal?: AbortSignal,
): Promise<All<Row>> => {
  const rows: Row[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < bound; pages++) {
    const page: Page<Row> = await adminJson<Page<Row>>(path, {
      query: { ...query, limit: pageSize, after },
      ...(signal && { signal }),
    });
    rows.push(...page.data);
    after = cursorOf(page);
    if (after === undefined) return { rows, isComplete: true };
  }
  return { rows, isComplete: false };
};

export const groupBy = (unit: Unit, stack: Stack): string => (stack === 'none' ? unit : `${unit},${stack}`);

export const loadUsage = (
  period: Period,
  { unit, stack, filters }: { readonly unit: Unit; readonly stack: Stack; readonly filters: Filters },
  signal: AbortSignal,
): Promise<All<UsageRow>> =>
  allOf('/usage', { ...period, ...filters, group_by: groupBy(unit, stack) }, mostPages, signal);

export const loadEvents = (query: Query, signal: AbortSignal): Promise<AdminUsageEventList> =>
  adminJson('/usage/events', { query, signal });

export const loadAllEvents = (query: Query): Promise<All<AdminUsageEvent>> =>
  allOf('/usage/events', query, mostEventPages);

interface Listed {
  readonly id: string;
  readonly name?: string;
}
interface List<Record> {
  readonly data: readonly Record[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Of records that are listed by id, up to 1000 of them. */
const recordsOf = async <Record>(path: string, signal: AbortSignal): Promise<readonly Record[]> => {
  const records: Record[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 10; pages++) {
    const list: List<Record> = await adminJson<List<Record>>(path, { query: { limit: 100, after }, signal });
    records.push(...list.data);
    if (!list.has_more || list.last_id === null) break;
    after = list.last_id;
  }
  return records;
};

export const loadBudgets = (signal: AbortSignal): Promise<readonly AdminBudget[]> =>
  recordsOf('/budgets', signal);

/** Names of subscriptions and keys by id. */
export type Names = ReadonlyMap<string, string>;

export const loadNames = async (signal: AbortSignal): Promise<Names> => {
  const lists = await Promise.all([
    recordsOf<Listed>('/subscriptions', signal),
    recordsOf<Listed>('/keys', signal),
  ]);
  return new Map(lists.flat().flatMap(({ id, name }) => (name ? [[id, name] as const] : [])));
};
