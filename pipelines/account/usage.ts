/** GET /usage: what the caller's subscription used in a period, page by page. */
import { from, map } from 'rxjs';
import type { UsageList } from '../../schemas/usage.ts';
import { requestRow, totalRow } from '../../src/billing/usage-rows.ts';
import { jsonReply, type KeyedPipeline, type KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import type { Step } from '../core/stage.ts';
import { readUsageQuery, type UsageRequest, writeCursor } from './usage-query.ts';

export const usage = ({ ledger }: Pick<Ports, 'ledger'>): KeyedPipeline =>
  compose(
    readUsageQuery, // 400 names the parameter
    queryLedger(ledger), // 503 while the ledger is unavailable
    (list) => jsonReply(list),
  );

const queryLedger =
  (ledger: Ports['ledger']): Step<UsageRequest, UsageList, KeyedRequest> =>
  (request, { caller }) =>
    from(readPage(ledger, caller.subscription, request)).pipe(map((page) => listOf(page, request)));

interface UsagePage {
  readonly data: UsageList['data'];
  /** Of the last row. */
  readonly cursor: string;
}

/** One row more than asked for tells whether there is another page. */
const readPage = async (
  ledger: Ports['ledger'],
  subscription: string,
  { period, groups, limit, after }: UsageRequest,
): Promise<UsagePage> => {
  const filter = { subscription, ...period };
  if (groups === 'request') {
    const place = after === undefined ? {} : { after: { time: Number(after[0]), id: after[1] ?? '' } };
    const events = await ledger.list(filter, { limit: limit + 1, ...place });
    const last = events[limit - 1];
    return {
      data: events.map(requestRow),
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

const listOf = ({ data, cursor }: UsagePage, { query, period, groups, limit }: UsageRequest): UsageList => {
  const more = data.length > limit;
  const next = new URLSearchParams(query);
  next.set('after', cursor);
  return {
    object: 'list',
    from: Math.floor(period.from / 1000),
    to: Math.floor(period.to / 1000),
    group_by: groups === 'request' ? [groups] : [...groups],
    data: more ? data.slice(0, limit) : data,
    has_more: more,
    links: { next: more ? `/v1/usage?${next}` : null },
  };
};
