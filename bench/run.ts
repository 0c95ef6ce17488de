/** Runs every scenario against every subject in interleaved rounds, so that machine noise affects all of them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Progress } from '../test/progress.ts';
import type { Metrics } from './load/window.ts';
import type { Load } from './load.ts';
import { type Measurement, Results } from './results.ts';
import type { Scenario } from './scenarios.ts';
import { closeStage, measureOnce, openStage, type Stage, secondsOf } from './stage.ts';
import { type Subject, type SubjectRow, startSubject } from './subjects.ts';
import { warmUp, warmUpSeconds } from './warm-up.ts';

export interface Plan {
  readonly rows: readonly SubjectRow[];
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  /** Every scenario in every round, not only those whose CPU time is compared. */
  readonly full: boolean;
  readonly progress: Progress;
}

const startSeconds = 2;
/** Work of the start itself is not that of the first requests. */
const settleSeconds = 0.5;

/** Subjects are started and warmed up once: their compiled code serves all rounds. */
export const run = async (plan: Plan): Promise<Results> => {
  const results = new Results();
  const stage = await openStage();
  const subjects: Subject[] = [];
  const steps = roundsOf(plan);
  plan.progress.plan(plan.rows.length * (startSeconds + warmUpSeconds));
  plan.progress.plan(steps.reduce((sum, { seconds }) => sum + seconds, 0));
  try {
    for (const row of plan.rows) {
      plan.progress.begin(`warming up ${row.name}`);
      const subject = await startPeer(row, stage, plan.progress);
      if (subject !== undefined) {
        subjects.push(subject);
        await warmUp(stage, subject);
      }
      plan.progress.finish(startSeconds + warmUpSeconds, `started and warmed up ${row.name}`);
    }
    for (const step of steps) await runStep(plan, stage, step, subjects, results);
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
    await closeStage(stage);
  }
  return results;
};

/** A peer that does not start is left out; a run without its other subjects has no meaning. */
export const startPeer = async (
  row: SubjectRow,
  stage: Stage,
  progress: Progress,
): Promise<Subject | undefined> => {
  try {
    return await startSubject(row, stage.enginePort);
  } catch (error) {
    if (row.peer !== true) throw error;
    progress.say(`${row.name} is left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
};

/** One scenario against one subject in one round. */
interface Step {
  readonly round: number;
  readonly scenario: Scenario;
  readonly row: SubjectRow;
  readonly seconds: number;
}

const roundsOf = (plan: Plan): Step[] => {
  const steps: Step[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const rotated = rotate(plan.rows, round - 1);
    for (const scenario of plan.scenarios) {
      if (round > 1 && !scenario.everyRound && !plan.full) continue;
      const able = rotated.filter((row) => isAble(row, scenario) && (round === 1 || row.once !== true));
      const seconds = secondsOf(scenario.load) + extraSeconds(scenario);
      steps.push(...able.map((row) => ({ round, scenario, row, seconds })));
      if (!scenario.everyRound) continue;
      // Forward and in reverse: drift within a round affects the first and the last subject equally.
      const again = able.filter((row) => row.command !== undefined && row.once !== true).toReversed();
      steps.push(...again.map((row) => ({ round: round + 0.5, scenario, row, seconds })));
    }
  }
  return steps;
};

/** What a scenario takes besides its load. */
const extraSeconds = ({ cold, idle, load }: Scenario): number => {
  if (cold === true) return 2 + startSeconds;
  return idle === undefined ? 0 : idle.seconds + secondsOf(idle.warmUp) + secondsOf(load);
};

/** Whether a subject has what a scenario needs. */
const isAble = (row: SubjectRow, { needs, cold, withoutPeers }: Scenario): boolean =>
  (needs === undefined || row.speaks?.includes(needs) === true) &&
  (cold !== true || row.command !== undefined) &&
  (withoutPeers !== true || row.peer !== true);

const runStep = async (
  plan: Plan,
  stage: Stage,
  step: Step,
  subjects: readonly Subject[],
  results: Results,
): Promise<void> => {
  const { round, scenario, row, seconds } = step;
  const label = `round ${Math.floor(round)} of ${plan.rounds}: ${scenario.name} ${row.name}`;
  const warm = subjects.find(({ name }) => name === row.name);
  plan.progress.begin(label);
  if (warm === undefined) {
    plan.progress.finish(seconds);
    return;
  }
  const { metrics, errors } = await measureScenario(stage, row, warm, scenario);
  results.add({ round, scenario: scenario.name, subject: row.name, metrics, errors });
  const first = scenario.columns.find((column) => metrics[column] !== undefined);
  const shown = first === undefined ? '' : ` ${first} ${metrics[first]?.toPrecision(4)}`;
  const trouble = Object.keys(errors).length === 0 ? '' : ` errors ${JSON.stringify(errors)}`;
  plan.progress.finish(seconds, `${label}${shown}${trouble}`);
};

type Measured = Pick<Measurement, 'metrics' | 'errors'>;

const measureScenario = (
  stage: Stage,
  row: SubjectRow,
  warm: Subject,
  scenario: Scenario,
): Promise<Measured> => {
  if (scenario.cold === true) return measureCold(stage, row, warm, scenario.load);
  if (scenario.idle !== undefined) return measureIdle(stage, warm, scenario.load, scenario.idle);
  return measure(stage, warm, scenario.load);
};

export const measure = async (stage: Stage, subject: Subject, load: Load): Promise<Measured> => {
  await subject.loopDelay();
  const outcome = await measureOnce(stage, subject, load);
  const delay = await subject.loopDelay();
  if ('failure' in outcome) return { metrics: {}, errors: { [outcome.failure]: 1 } };
  const { metrics, errors } = outcome.result;
  return {
    metrics: delay === undefined ? metrics : { ...metrics, loop_p99_ms: delay.p99, loop_max_ms: delay.max },
    errors,
  };
};

const costMetric = 'cpu_us_per_request';

/** The first requests of a process started for them, as many after those, and then of the warm process: machines drift. */
const measureCold = async (stage: Stage, row: SubjectRow, warm: Subject, load: Load): Promise<Measured> => {
  const subject = await startSubject(row, stage.enginePort);
  try {
    await pause(settleSeconds * 1000);
    const first = await measure(stage, subject, load);
    const next = await measure(stage, subject, load);
    const reference = await measure(stage, warm, load);
    const metrics: Metrics = { ...first.metrics };
    const cost = first.metrics[costMetric];
    const nextCost = next.metrics[costMetric];
    const warmCost = reference.metrics[costMetric];
    if (nextCost !== undefined) metrics.next_cpu_us_per_request = nextCost;
    if (cost !== undefined && warmCost !== undefined) metrics.times_warm = cost / warmCost;
    if (nextCost !== undefined && warmCost !== undefined) metrics.next_times_warm = nextCost / warmCost;
    return { metrics, errors: { ...first.errors, ...next.errors, ...reference.errors } };
  } finally {
    await subject.stop();
  }
};

/** After a pause, and again after the warm-up: machines drift. */
const measureIdle = async (
  stage: Stage,
  subject: Subject,
  load: Load,
  idle: NonNullable<Scenario['idle']>,
): Promise<Measured> => {
  await pause(idle.seconds * 1000);
  const first = await measure(stage, subject, load);
  const warmUp = await measure(stage, subject, idle.warmUp);
  const reference = await measure(stage, subject, load);
  const [cost, warmCost] = [first.metrics[costMetric], reference.metrics[costMetric]];
  const compared = cost === undefined || warmCost === undefined ? {} : { times_warm: cost / warmCost };
  return {
    metrics: { ...first.metrics, ...compared },
    errors: { ...first.errors, ...warmUp.errors, ...reference.errors },
  };
};

const rotate = <Item>(items: readonly Item[], by: number): Item[] => {
  const offset = by % Math.max(1, items.length);
  return [...items.slice(offset), ...items.slice(0, offset)];
};
