/** Runs every scenario against every subject in interleaved rounds, so that machine noise affects all of them. */
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { buildParts } from './build.ts';
import type { Load, Order, Outcome } from './load.ts';
import { nextMessage, start, stop } from './processes.ts';
import { Results } from './results.ts';
import type { Scenario } from './scenarios.ts';
import { type Subject, type SubjectRow, startSubject } from './subjects.ts';

export interface Plan {
  readonly rows: readonly SubjectRow[];
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  /** Every scenario in every round, not only those whose CPU time is compared. */
  readonly full: boolean;
  readonly say: (line: string) => void;
}

export interface Stage {
  readonly engine: ChildProcess;
  readonly enginePort: number;
  readonly generator: ChildProcess;
}

const longestRun = 120;
/** A subject that has served fewer requests is not warm: on a busy machine its code is compiled late. */
const warmRequests = [30_000, 2_000];
const maximumWarmUps = 40;
const warmWindow = 0.6;
const warmUps: readonly Load[] = [
  {
    kind: 'closed',
    stream: false,
    knobs: { tokens: 64 },
    clients: 64,
    warmSeconds: 0,
    windowSeconds: warmWindow,
  },
  {
    kind: 'closed',
    stream: true,
    knobs: { tokens: 200 },
    clients: 64,
    warmSeconds: 0,
    windowSeconds: warmWindow,
  },
];

/** Engine and load generator, each in its own process; they serve one run. */
export const openStage = async (): Promise<Stage> => {
  const part = (file: string): ChildProcess =>
    start({
      command: ['node', path.join(buildParts(), file)],
      folder: path.dirname(import.meta.dirname),
      environment: {},
    });
  const engine = part('engine.js');
  const { port } = await nextMessage<{ port: number }>(engine, 20);
  const generator = part('load.js');
  await nextMessage(generator, 20);
  return { engine, enginePort: port, generator };
};

export const closeStage = async (stage: Stage): Promise<void> => {
  await Promise.all([stop(stage.engine), stop(stage.generator)]);
};

/**
 * Until its CPU time stops falling: a subject with much code is compiled later than one with little, even more so on a
 * busy machine.
 */
export const warmUp = async (stage: Stage, subject: Subject): Promise<void> => {
  const best = warmUps.map(() => Number.POSITIVE_INFINITY);
  const served = warmUps.map(() => 0);
  const isServed = (): boolean => served.every((count, index) => count >= (warmRequests[index] ?? 0));
  let idle = 0;
  for (let turn = 0; turn < maximumWarmUps && (idle < 2 || !isServed()); turn += 1) {
    let cheaper = false;
    for (const [index, load] of warmUps.entries()) {
      const outcome = await measureOnce(stage, subject, load);
      const metrics = 'result' in outcome ? outcome.result.metrics : {};
      const cost = metrics.cpu_us_per_request ?? 0;
      served[index] = (served[index] ?? 0) + (metrics.requests_per_second ?? 0) * warmWindow;
      if (cost < (best[index] ?? 0) * 0.93) cheaper = true;
      best[index] = Math.min(best[index] ?? 0, cost);
    }
    idle = cheaper ? 0 : idle + 1;
  }
};

/** One scenario against one subject. */
export const measureOnce = async (stage: Stage, subject: Subject, load: Load): Promise<Outcome> => {
  const order: Order = { load, target: subject.target, pids: subject.pids, enginePort: stage.enginePort };
  const outcome = nextMessage<Outcome>(stage.generator, longestRun);
  stage.generator.send(order);
  return outcome;
};

/** Subjects are started and warmed up once: their compiled code serves all rounds. */
export const run = async (plan: Plan): Promise<Results> => {
  const results = new Results();
  const stage = await openStage();
  const subjects: Subject[] = [];
  try {
    for (const row of plan.rows) {
      plan.say(`starting ${row.name} and warming it up`);
      const subject = await startSubject(row, stage.enginePort);
      subjects.push(subject);
      await warmUp(stage, subject);
    }
    for (let round = 1; round <= plan.rounds; round += 1) {
      await runRound(plan, stage, round, rotate(subjects, round - 1), results);
    }
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
    await closeStage(stage);
  }
  return results;
};

const runRound = async (
  plan: Plan,
  stage: Stage,
  round: number,
  subjects: readonly Subject[],
  results: Results,
): Promise<void> => {
  for (const scenario of plan.scenarios) {
    if (round > 1 && !scenario.everyRound && !plan.full) continue;
    const { needs } = scenario;
    const able = subjects.filter(({ speaks }) => needs === undefined || speaks.includes(needs));
    for (const subject of able) await runScenario(plan, stage, round, scenario, subject, results);
    if (!scenario.everyRound) continue;
    // Forward and in reverse: drift within a round affects the first and the last subject equally.
    for (const subject of able.filter((each) => each.pids.length > 0).toReversed()) {
      await runScenario(plan, stage, round + 0.5, scenario, subject, results);
    }
  }
};

const runScenario = async (
  plan: Plan,
  stage: Stage,
  round: number,
  scenario: Scenario,
  subject: Subject,
  results: Results,
): Promise<void> => {
  await subject.loopDelay();
  const outcome = await measureOnce(stage, subject, scenario.load);
  const delay = await subject.loopDelay();
  const failed = 'failure' in outcome;
  const metrics = failed ? {} : outcome.result.metrics;
  const errors = failed ? { [outcome.failure]: 1 } : outcome.result.errors;
  results.add({
    round,
    scenario: scenario.name,
    subject: subject.name,
    metrics: delay === undefined ? metrics : { ...metrics, loop_p99_ms: delay.p99, loop_max_ms: delay.max },
    errors,
  });
  const first = scenario.columns.find((column) => metrics[column] !== undefined);
  const shown = first === undefined ? '' : ` ${first} ${metrics[first]?.toPrecision(4)}`;
  const trouble = Object.keys(errors).length === 0 ? '' : ` errors ${JSON.stringify(errors)}`;
  plan.say(
    `round ${Math.floor(round)} of ${plan.rounds}: ${scenario.name} ${subject.name}${shown}${trouble}`,
  );
};

const rotate = <Item>(items: readonly Item[], by: number): Item[] => {
  const offset = by % Math.max(1, items.length);
  return [...items.slice(offset), ...items.slice(0, offset)];
};
