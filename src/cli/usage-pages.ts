/** Usage page by page, from the ledger or over the admin API of a gateway. */
import { requestRow, totalRow } from '../billing/usage-rows.ts';
import type { Ledger, UsageFilter, UsageGroup } from '../ports/ledger.ts';
import type { Input } from './command.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { gatewayOf } from './remote/target.ts';
import { withKeys, withLedger } from './stores.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Groups = readonly UsageGroup[] | 'request';
type Pages = AsyncGenerator<readonly Row[]>;

interface UsageQuery {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly groups: Groups;
  /** Id or name; undefined: all of them. */
  readonly subscription: string | undefined;
}

export const withUsage = async (
  input: Input,
  query: UsageQuery,
  work: (pages: Pages) => Promise<void>,
): Promise<void> => {
  const gateway = gatewayOf(input);
  if (gateway !== undefined) return work(remotePages(new GatewayClient(gateway), query));
  const { groups, subscription, ...period } = query;
  const filter = { ...period, ...(await owner(input, subscription)) };
  return withLedger((ledger) => work(pagesOf(ledger, filter, groups)));
};

/** An id is taken as it is: its subscription may be gone, its usage is not. */
const owner = async (input: Input, reference: string | undefined): Promise<{ subscription?: string }> => {
  if (reference === undefined) return {};
  if (reference.startsWith('sub_')) return { subscription: reference };
  return { subscription: (await withKeys(input, (keys) => keys.findSubscription(reference))).id };
};

const pageSize = 1000;

async function* pagesOf(ledger: Ledger, filter: UsageFilter, groups: Groups): Pages {
  if (groups === 'request') {
    for (let place = {}; ; ) {
      const events = await ledger.list(filter, { limit: pageSize, ...place });
      yield events.map((event) => ({ subscription: event.subscription, ...requestRow(event) }));
      const last = events.at(-1);
      if (last === undefined || events.length < pageSize) return;
      place = { after: { time: last.time, id: last.id } };
    }
  }
  for (let place = {}; ; ) {
    const totals = await ledger.totals(filter, groups, { limit: pageSize, ...place });
    yield totals.map((total) => totalRow(groups, total));
    const last = totals.at(-1);
    if (last === undefined || totals.length < pageSize) return;
    place = { after: last.group };
  }
}

async function* remotePages(client: GatewayClient, query: UsageQuery): Pages {
  const { from, to, groups, subscription } = query;
  const asked = new URLSearchParams({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    group_by: groups === 'request' ? groups : groups.join(','),
    limit: String(pageSize),
    ...(subscription === undefined ? {} : { subscription }),
  });
  for (let path: string | null = `/usage?${asked}`; path !== null; ) {
    const page: { data: readonly Row[]; links: { next: string | null } } = await client.get(path);
    yield page.data;
    path = page.links.next?.replace(/^\/admin\/v1/, '') ?? null;
  }
}
