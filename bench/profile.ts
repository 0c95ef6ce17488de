/** Profiles a subject during one scenario and prints the functions that use most CPU time. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Progress } from '../test/progress.ts';
import type { Outcome } from './load.ts';
import { loadOf, type RoutesPlan, withRoutes } from './routes/run.ts';
import type { Scenario } from './scenarios.ts';
import { closeStage, measureOnce, openStage, type Stage } from './stage.ts';
import { type Subject, type SubjectRow, startSubject } from './subjects.ts';
import { warmUp } from './warm-up.ts';

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shown = 40;
/** Microseconds. A longer sample means that the process was waiting for a core. */
const longestSample = 400;
/** `dispatch` without a file is the profiler being started. */
const uninteresting = new Set(['(idle)', '(program)', 'dispatch']);
const root = path.dirname(import.meta.dirname);
const results = path.join(import.meta.dirname, 'results');

export const profileAll = async (
  rows: readonly SubjectRow[],
  scenarios: readonly Scenario[],
  progress: Progress,
): Promise<void> => {
  if (scenarios.length === 0) return;
  const stage = await openStage();
  try {
    for (const row of rows) {
      const subject = await startSubject(row, stage.enginePort);
      await warmUp(stage, subject);
      for (const { name, title, load } of scenarios) {
        progress.say(`profiling ${row.name} ${name}`);
        await profileOnce(stage, subject, { name, title, load });
      }
      await subject.stop();
    }
  } finally {
    await closeStage(stage);
  }
};

export const profileRoutes = (plan: RoutesPlan): Promise<void> =>
  withRoutes(plan, async ({ stage, near, rows }) => {
    for (const row of rows) {
      plan.progress.say(`profiling ${row.name}`);
      const name = row.name.replaceAll(/[^A-Za-z0-9]+/g, '-');
      await profileOnce(stage, near, { name, title: row.name, load: loadOf(row, true) });
    }
  });

const profileOnce = async (
  stage: Stage,
  subject: Subject,
  { name, title, load }: Pick<Scenario, 'name' | 'title' | 'load'>,
): Promise<void> => {
  mkdirSync(results, { recursive: true });
  const file = path.join(results, `${subject.name}-${name.replaceAll('/', '-')}.cpuprofile`);
  await subject.startProfile();
  const outcome = await measureOnce(stage, subject, load);
  await subject.stopProfile(file);
  process.stdout.write(`\n${subject.name}, ${title}: ${costOf(outcome)}\n${tops(file)}\n`);
};

const costOf = (outcome: Outcome): string =>
  'failure' in outcome ? outcome.failure : JSON.stringify(outcome.result.metrics);

/**
 * Three views, as fractions of the non-idle time: self time of every function; time of the project's functions with the
 * libraries they call; and with everything they call.
 */
const tops = (file: string): string => {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const own = new Map<string, number>();
  const near = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (times: Map<string, number>, place: string, time: number): unknown =>
    times.set(place, (times.get(place) ?? 0) + time);
  let busy = 0;
  profile.samples.forEach((sampled, index) => {
    const time = Math.min(profile.timeDeltas[index] ?? 0, longestSample);
    const place = places.get(sampled) ?? '';
    if (uninteresting.has(place)) return;
    busy += time;
    add(own, place, time);
    const seen = new Set<string>();
    for (let node: number | undefined = sampled; node !== undefined; node = parents.get(node)) {
      const caller = places.get(node) ?? '';
      if (caller.includes('.ts:')) seen.add(caller);
    }
    const [nearest = '(none of the project)'] = seen;
    add(near, nearest, time);
    for (const caller of seen) add(whole, caller, time);
  });
  return `own time\n${list(own, busy)}\nwith libraries\n${list(near, busy)}\nwith everything\n${list(whole, busy)}`;
};

const list = (times: ReadonlyMap<string, number>, busy: number): string =>
  [...times]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shown)
    .map(([place, time]) => `${((time / busy) * 100).toFixed(1).padStart(6)} %  ${place}`)
    .join('\n');

const placeOf = ({ functionName, url, lineNumber, columnNumber }: CallFrame): string => {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  if (!url.startsWith('file://')) return `${name}  ${url}:${lineNumber + 1}`;
  const file = fileURLToPath(url);
  const packaged = file.lastIndexOf('/node_modules/');
  if (packaged >= 0) return `${name}  ${file.slice(packaged + 14)}:${lineNumber + 1}`;
  const source = mapOf(file)?.findEntry(lineNumber, columnNumber);
  if (source === undefined || !('originalSource' in source))
    return `${name}  ${path.relative(root, file)}:${lineNumber + 1}`;
  const original = path.resolve(path.dirname(file), source.originalSource);
  return `${name}  ${path.relative(root, original)}:${source.originalLine + 1}`;
};

const maps = new Map<string, SourceMap | undefined>();
const mapOf = (file: string): SourceMap | undefined => {
  if (!maps.has(file)) {
    const map = `${file}.map`;
    maps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
  }
  return maps.get(file);
};
