/** Compares what clients saw with the ledger: missing, duplicate and wrong usage. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { costOf } from '../../src/billing/cost.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import type { Sight } from './load.ts';
import type { Stack } from './stack.ts';

export interface Verdict {
  readonly sent: number;
  readonly completed: number;
  readonly failed: number;
  readonly cut: number;
  readonly left: number;
  /** Events in the ledger. */
  readonly ledger: number;
  /** Completed for a client, and not in the ledger. */
  readonly missing: readonly string[];
  /** Ids that are there more than once. */
  readonly duplicated: readonly string[];
  /** Completed for a client, with other quantities or another amount in the ledger. */
  readonly wrong: readonly string[];
  /** Failed for a client, and billed all the same. */
  readonly billedFailures: readonly string[];
}

const always = { from: 0, to: Number.MAX_SAFE_INTEGER };

export const judge = async (
  { ledger, price }: Pick<Stack, 'ledger' | 'price'>,
  sights: readonly Sight[],
): Promise<Verdict> => {
  const events = await everything(ledger);
  const byRequest = new Map(events.map((event) => [event.request_id, event]));
  const of = (outcome: Sight['outcome']) => sights.filter((sight) => sight.outcome === outcome);
  const firsts = new Set<string>();
  const duplicated: string[] = [];
  for (const { id } of events) {
    if (firsts.has(id)) duplicated.push(id);
    firsts.add(id);
  }
  const eventOf = ({ id }: Sight) => byRequest.get(id ?? '');
  const ids = (some: readonly Sight[]) => some.map(({ id }) => id ?? '(no id)');
  return {
    sent: sights.length,
    completed: of('completed').length,
    failed: of('failed').length,
    cut: of('cut').length,
    left: of('left').length,
    ledger: events.length,
    missing: ids(of('completed').filter((sight) => eventOf(sight) === undefined)),
    duplicated,
    wrong: ids(
      of('completed').filter((sight) => {
        const event = eventOf(sight);
        return event !== undefined && !fits(event, sight, price);
      }),
    ),
    billedFailures: ids(
      of('failed').filter((sight) => {
        const event = eventOf(sight);
        return event !== undefined && (event.outcome !== 'failed' || event.cost !== '0');
      }),
    ),
  };
};

export const isGood = ({ missing, duplicated, wrong, billedFailures }: Verdict): boolean =>
  missing.length + duplicated.length + wrong.length + billedFailures.length === 0;

const fits = (event: UsageEvent, { usage, tokens }: Sight, price: Stack['price']): boolean => {
  const { prompt_tokens, completion_tokens } = event.quantities;
  return (
    event.outcome === 'completed' &&
    completion_tokens === tokens &&
    completion_tokens === usage?.completion_tokens &&
    prompt_tokens === usage.prompt_tokens &&
    event.cost ===
      costOf([
        [prompt_tokens, price.prompt],
        [completion_tokens, price.completion],
      ])
  );
};

export const everything = async (ledger: Ledger): Promise<readonly UsageEvent[]> => {
  const events: UsageEvent[] = [];
  for (let place = {}; ; ) {
    const page = await ledger.list(always, { limit: 1000, ...place });
    events.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < 1000) return events;
    place = { after: { time: last.time, id: last.id } };
  }
};
