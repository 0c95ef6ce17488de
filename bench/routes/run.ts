/** Measures every route of a near gateway in turn, with a far gateway's simulator as its engine. */

import type { Progress } from '../../test/progress.ts';
import type { Step } from '../load/route.ts';
import type { Load, Outcome } from '../load.ts';
import { type Measurement, Results } from '../results.ts';
import { closeStage, measureOnce, openStage, type Stage } from '../stage.ts';
import { type Subject, type SubjectRow, startSubject } from '../subjects.ts';
import { gateways } from './gateways.ts';
import { prepare } from './prepare.ts';
import { type RouteRow, routeRows } from './rows.ts';

export interface RoutesPlan {
  /** The entry of the gateway whose routes are measured. */
  readonly sluice: SubjectRow;
  /** Whether a route is selected, by its name. */
  readonly isWanted: (name: string) => boolean;
  readonly full: boolean;
  readonly rounds: number;
  readonly progress: Progress;
}

export interface OpenRoutes {
  readonly stage: Stage;
  readonly near: Subject;
  readonly rows: readonly RouteRow[];
}

const warmSeconds = 0.15;
/** Warms up the code that all routes share: HTTP, keys, admission, engine calls, metering. */
const shared: Load = {
  kind: 'closed',
  stream: false,
  knobs: { tokens: 64 },
  clients: 64,
  warmSeconds: 0,
  windowSeconds: 3,
};
const windowSeconds = (full: boolean): number => (full ? 3 : 0.8);

type RouteLoad = Extract<Load, { kind: 'route' }>;

export const loadOf = ({ name: _, ...row }: RouteRow, full: boolean): RouteLoad => ({
  kind: 'route',
  ...row,
  warmSeconds,
  windowSeconds: windowSeconds(full),
});

/** Starts the processes, warms up every route briefly, and stops the processes after use. */
export const withRoutes = async (
  plan: RoutesPlan,
  use: (open: OpenRoutes) => Promise<void>,
): Promise<void> => {
  const stage = await openStage();
  const started: Subject[] = [];
  const begin = async (row: SubjectRow, enginePort: number): Promise<Subject> => {
    plan.progress.begin(`starting ${row.name} for its routes`);
    const subject = await startSubject(row, enginePort);
    started.push(subject);
    return subject;
  };
  try {
    const rows = gateways(plan.sluice, stage.enginePort);
    const far = await begin(rows.far, stage.enginePort);
    const near = await begin(rows.near, far.target.port);
    const all = routeRows(await prepare(near.target));
    const wanted = all.filter(({ name }) => plan.isWanted(name));
    if (wanted.length === 0)
      throw new Error(`no such route; there are ${all.map(({ name }) => name).join('; ')}`);
    plan.progress.begin(`warming up ${all.length} routes`);
    await measureOnce(stage, near, shared);
    for (const row of all)
      await measureOnce(stage, near, { ...loadOf(row, false), warmSeconds: 0, windowSeconds: warmSeconds });
    await use({ stage, near, rows: wanted });
  } finally {
    await Promise.all(started.map((subject) => subject.stop()));
    await closeStage(stage);
  }
};

/** Results in which every route is a scenario. */
export const runRoutes = async (plan: RoutesPlan): Promise<Results> => {
  const results = new Results();
  const rounds = plan.full ? plan.rounds : 1;
  const secondsPlanned = rounds * (plan.full ? 250 : 80);
  plan.progress.plan(secondsPlanned);
  await withRoutes(plan, async ({ stage, near, rows }) => {
    for (let round = 1; round <= rounds; round += 1) {
      results.add(await idle(plan, stage, near, round));
      for (const row of rows) {
        plan.progress.begin(row.name);
        await near.loopDelay();
        const outcome = await measureOnce(stage, near, loadOf(row, plan.full));
        const delay = await near.loopDelay();
        const { metrics, errors } = judged(outcome);
        results.add({
          round,
          scenario: row.name,
          subject: plan.sluice.name,
          metrics:
            delay === undefined ? metrics : { ...metrics, loop_p99_ms: delay.p99, loop_max_ms: delay.max },
          errors,
        });
        const cost = metrics.cpu_us_per_request?.toPrecision(4) ?? 'unknown';
        const seconds = secondsPlanned / rows.length / rounds;
        plan.progress.finish(seconds, `${row.name}: cpu_us_per_request ${cost}${trouble(errors)}`);
      }
    }
  });
  return results;
};

/** CPU time of an idle second: routes with a few responses per second include a part of it. */
const idle = async (plan: RoutesPlan, stage: Stage, near: Subject, round: number): Promise<Measurement> => {
  const nobody = { name: '', clients: 0, steps: [health] };
  // Earlier routes leave work behind: events to ship, code to compile.
  const outcome = await measureOnce(stage, near, { ...loadOf(nobody, plan.full), warmSeconds: 1 });
  const cores = 'failure' in outcome ? undefined : outcome.result.metrics.cpu_cores;
  return {
    round,
    scenario: 'idle for a second',
    subject: plan.sluice.name,
    metrics: cores === undefined ? {} : { cpu_us_per_request: cores * 1e6 },
    errors: 'failure' in outcome ? { [outcome.failure]: 1 } : {},
  };
};
const health: Step = { method: 'GET', route: '/health', path: '/health', expected: 200 };

const trouble = (errors: Readonly<Record<string, number>>): string =>
  Object.keys(errors).length === 0 ? '' : ` errors ${JSON.stringify(errors)}`;

/** A route without any response has failed, even without an error. */
const judged = (outcome: Outcome): { metrics: Record<string, number>; errors: Record<string, number> } => {
  if ('failure' in outcome) return { metrics: {}, errors: { [outcome.failure]: 1 } };
  const { metrics, errors } = outcome.result;
  return metrics.requests_per_second === 0
    ? { metrics: {}, errors: { ...errors, 'no answer in the window': 1 } }
    : { metrics, errors };
};
