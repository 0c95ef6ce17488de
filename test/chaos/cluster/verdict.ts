/** Compares what clients of a cluster saw with the ledger, limits, jobs and webhooks. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { requestRow } from '../../../src/billing/usage-rows.ts';
import { differs, type Report } from '../../../src/billing/verify.ts';
import type { Billed, Client } from '../../topology/client.ts';
import type { Created, JobState } from './jobs.ts';
import type { Admitted } from './load.ts';

export interface Findings {
  readonly clients: readonly Client[];
  readonly events: readonly UsageEvent[];
  readonly reports: readonly Report[];
  /** With the state that they ended in. */
  readonly jobs: readonly (Created & { readonly status: string })[];
  /** All there are, by route. */
  readonly listed: Readonly<Record<string, readonly JobState[]>>;
  /** Webhooks: ids of jobs and idempotency keys, and whether they were signed. */
  readonly deliveries: readonly { readonly job: string; readonly key: string; readonly signed: boolean }[];
}

export interface Verdict {
  /** Answered, billed and compared, by what there is of it. */
  readonly compared: number;
  /** Answers without an event, with several, and with one that says something else. */
  readonly missing: readonly string[];
  readonly repeated: readonly string[];
  readonly wrong: readonly string[];
  /** Answered with an error, and billed all the same. */
  readonly billedFailures: readonly string[];
  /** Billed, and nobody got an answer: there may be as many as answers were cut. */
  readonly unanswered: number;
  readonly cut: number;
  readonly unexplained: number;
  /** Journals, Kafka and ledger that differ. */
  readonly differences: readonly Report[];
  /** Jobs that have not ended, and routes whose completed jobs and charges differ in number. */
  readonly unended: readonly string[];
  readonly miscounted: readonly string[];
  /** Jobs without a webhook, and with webhooks of two endings. */
  readonly silent: readonly string[];
  readonly ambiguous: readonly string[];
  readonly unsigned: number;
}

const groupBy = <T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};

/** Some requests are two operations: a question that is embedded, and its answer. */
const keyOf = ({ request_id, route, model }: Billed): string => `${request_id} ${route} ${model}`;

const comparable = ({ request_id, route, model, outcome, cost, ...rest }: Billed): string => {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, inputs, megapixels, seconds } =
    rest;
  const quantities = [
    prompt_tokens,
    completion_tokens,
    cached_tokens,
    reasoning_tokens,
    inputs,
    megapixels,
    seconds,
  ];
  return JSON.stringify([request_id, route, model, outcome, cost, ...quantities]);
};

export const judgeCluster = ({ clients, events, reports, jobs, listed, deliveries }: Findings): Verdict => {
  const rows = events.map(requestRow);
  const byKey = groupBy(rows, keyOf);
  const expected = clients.flatMap((client) => client.billed);
  const known = new Set(expected.map(keyOf));
  const strange = expected.filter((each) => byKey.get(keyOf(each))?.length !== 1);
  const wrong = expected.filter((each) => {
    const [row, another] = byKey.get(keyOf(each)) ?? [];
    return row !== undefined && another === undefined && comparable(row) !== comparable(each);
  });
  const refused = new Set(clients.flatMap((client) => client.refused.map(({ requestId }) => requestId)));
  const cuts = clients.flatMap((client) => client.cut);
  // Requests of jobs are answered before they are billed: what became of them is compared below.
  const ordered = new Set(jobs.map(({ requestId }) => requestId));
  // A question may be embedded, an operation of its own, and its answer fail.
  const isQuestion = (id: string) => id.endsWith('_query') && refused.has(id.slice(0, -'_query'.length));
  const unanswered = rows.filter(
    (row) =>
      !known.has(keyOf(row)) &&
      row.outcome !== 'failed' &&
      !ordered.has(row.request_id) &&
      !isQuestion(row.request_id),
  );
  const byJob = groupBy(deliveries, ({ job }) => job);
  const keysOf = (id: string) => new Set(byJob.get(id)?.map(({ key }) => key));
  return {
    compared: expected.length,
    missing: strange.filter((each) => !byKey.has(keyOf(each))).map(keyOf),
    repeated: strange.filter((each) => byKey.has(keyOf(each))).map(keyOf),
    wrong: wrong.map((each) => `${comparable(each)} is ${byKey.get(keyOf(each))?.map(comparable)}`),
    billedFailures: rows.filter((row) => refused.has(row.request_id) && row.cost !== '0').map(keyOf),
    unanswered: unanswered.length,
    cut: cuts.length,
    unexplained: Math.max(0, unanswered.length - cuts.length),
    differences: reports.filter(differs),
    unended: jobs.filter(({ status }) => !['completed', 'failed'].includes(status)).map(({ id }) => id),
    miscounted: Object.entries(listed).flatMap(([route, all]) => {
      const completed = all.filter(({ status }) => status === 'completed').length;
      const charged = rows.filter((row) => row.route === route && row.outcome === 'completed').length;
      return completed === charged
        ? []
        : [`${completed} jobs of ${route} completed, ${charged} were charged`];
    }),
    silent: jobs.filter(({ id }) => keysOf(id).size === 0).map(({ id }) => id),
    ambiguous: jobs.filter(({ id }) => keysOf(id).size > 1).map(({ id }) => `${id}: ${[...keysOf(id)]}`),
    unsigned: deliveries.filter(({ signed }) => !signed).length,
  };
};

/** The names of all that is not as it should be. */
export const faultsOf = (verdict: Verdict): readonly string[] =>
  Object.entries(verdict)
    .filter(([name, value]) => (Array.isArray(value) ? value.length > 0 : badCounts.has(name) && value > 0))
    .map(([name]) => name);

/** What is on its way may still arrive; the rest stays as it is. */
export const mayHeal = (verdict: Verdict): boolean => faultsOf(verdict).some((name) => healing.has(name));

const healing = new Set(['missing', 'differences', 'unended', 'miscounted', 'silent']);
const badCounts = new Set(['unexplained', 'unsigned']);

/** The most that certainly started within a minute: sent and answered in it. */
export const mostInMinute = (admitted: readonly Admitted[], amount: (one: Admitted) => number): number =>
  Math.max(
    0,
    ...admitted.map(({ sent }) =>
      admitted
        .filter((one) => one.sent >= sent && one.answered <= sent + 60_000)
        .reduce((sum, one) => sum + amount(one), 0),
    ),
  );
