/** Runs the scale curve: more and more streams through every subject, then Sluice in several processes. */
import type { Progress } from '../../test/progress.ts';
import { Results } from '../results.ts';
import { measure, startPeer } from '../run.ts';
import { closeStage, openStage, type Stage, secondsOf } from '../stage.ts';
import type { Subject, SubjectRow } from '../subjects.ts';
import { warmUp, warmUpSeconds } from '../warm-up.ts';
import { processCounts, processLoads, streamCounts, streamsLoad, withProcesses } from './plan.ts';

export interface ScalePlan {
  /** With `direct`, whose delay is subtracted. */
  readonly rows: readonly SubjectRow[];
  readonly sluice: SubjectRow;
  readonly progress: Progress;
}

/** Results with a scenario per point: `scale/<streams>` and `processes/<load>`. */
export const runScale = async ({ rows, sluice, progress }: ScalePlan): Promise<Results> => {
  const results = new Results();
  const stage = await openStage();
  const started: Subject[] = [];
  const counts = processCounts();
  progress.plan(rows.length * warmUpSeconds + counts.length * (warmUpSeconds + 10));
  for (const streams of streamCounts) progress.plan(rows.length * secondsOf(streamsLoad(streams)));
  const begin = async (row: SubjectRow): Promise<Subject | undefined> => {
    progress.begin(`warming up ${row.name}`);
    const subject = await startPeer(row, stage, progress);
    if (subject !== undefined) {
      started.push(subject);
      await warmUp(stage, subject);
    }
    progress.finish(warmUpSeconds, `started and warmed up ${row.name}`);
    return subject;
  };
  try {
    for (const row of rows) await begin(row);
    for (const streams of streamCounts)
      for (const subject of started) await runStreams(stage, subject, streams, results, progress);
    await Promise.all(started.splice(0).map((subject) => subject.stop()));
    for (const count of counts) {
      const subject = await begin(withProcesses(sluice, count));
      if (subject === undefined) continue;
      for (const { name, load } of processLoads(count)) {
        progress.begin(`${subject.name}, ${name}`);
        const { metrics, errors } = await measure(stage, subject, load);
        results.add({ round: 1, scenario: `processes/${name}`, subject: subject.name, metrics, errors });
        const rate = metrics.requests_per_second?.toFixed(0) ?? 'no';
        progress.finish(5, `${subject.name}, ${name}: ${rate} requests/s`);
      }
      await Promise.all(started.splice(0).map((each) => each.stop()));
    }
  } finally {
    await Promise.all(started.map((subject) => subject.stop()));
    await closeStage(stage);
  }
  return results;
};

const runStreams = async (
  stage: Stage,
  subject: Subject,
  streams: number,
  results: Results,
  progress: Progress,
): Promise<void> => {
  const load = streamsLoad(streams);
  progress.begin(`${streams} streams through ${subject.name}`);
  const { metrics, errors } = await measure(stage, subject, load);
  results.add({ round: 1, scenario: `scale/${streams}`, subject: subject.name, metrics, errors });
  const shown = `delay p99 ${metrics.delay_p99_ms?.toPrecision(3)} ms, CPU per token ${metrics.cpu_us_per_chunk?.toPrecision(3)} µs`;
  progress.finish(secondsOf(load), `${streams} streams through ${subject.name}: ${shown}`);
};
