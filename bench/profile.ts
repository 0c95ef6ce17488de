/** Where a subject's processor time goes: a sampled profile of one scenario in, the functions that took most of it out. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { closeStage, measureOnce, openStage, warmUp } from './run.ts';
import type { Scenario } from './scenarios.ts';
import { type SubjectRow, startSubject } from './subjects.ts';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shown = 45;
const results = path.join(import.meta.dirname, 'results');

export const profileAll = async (
  rows: readonly SubjectRow[],
  scenarios: readonly Scenario[],
  say: (line: string) => void,
): Promise<void> => {
  mkdirSync(results, { recursive: true });
  const stage = await openStage();
  try {
    for (const row of rows) {
      const subject = await startSubject(row, stage.enginePort);
      await warmUp(stage, subject);
      for (const scenario of scenarios) {
        const file = path.join(results, `${row.name}-${scenario.name}.cpuprofile`);
        await subject.startProfile();
        const outcome = await measureOnce(stage, subject, scenario.load);
        await subject.stopProfile(file);
        if ('result' in outcome) say(`${row.name} ${scenario.name} ${JSON.stringify(outcome.result)}`);
        process.stdout.write(`\n${row.name}, ${scenario.name}\n${topOf(file)}\n`);
      }
      await subject.stop();
    }
  } finally {
    await closeStage(stage);
  }
};

/** Own time of each function, as a share of the time the process was not idle. */
const topOf = (file: string): string => {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  let busy = 0;
  profile.samples.forEach((node, index) => {
    const place = places.get(node) ?? '';
    const time = profile.timeDeltas[index] ?? 0;
    if (place.startsWith('(idle)') || place.startsWith('(program)')) return;
    busy += time;
    times.set(place, (times.get(place) ?? 0) + time);
  });
  return [...times]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shown)
    .map(([place, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${place}`)
    .join('\n');
};

const placeOf = (frame: CpuProfile['nodes'][number]['callFrame']): string => {
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName;
  const file = frame.url.replace(/^.*\/node_modules\//, '').replace(/^file:\/\//, '');
  const inRoot = path.relative(path.dirname(import.meta.dirname), file);
  return frame.url === ''
    ? name
    : `${name}  ${inRoot.startsWith('..') ? file : inRoot}:${frame.lineNumber + 1}`;
};
