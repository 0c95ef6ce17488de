/**
 * Runs the named suites, or all (`test/*.test.ts`), compiled and each in its own process.
 * tap runs single suites; its runner instruments every module of every process for coverage, which costs more than
 * most suites do.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { orEnd, readCommandLine } from './command-line.ts';
import { longSuites } from './long-suites.ts';
import { judge } from './verdict.ts';

/** Suites wait for much of their time: for processes, deadlines, timers. */
const atOnce = availableParallelism() + 2;
/** For one suite, on a machine that has other things to do: one that hangs must not cost the whole run. */
const seconds = 900;

/** Those that take longer than their size tells, the longest first: they start processes, convert media, or wait. */
const longest = [
  'processes',
  'engines',
  'security',
  'audio',
  'http',
  'cli',
  'videos',
  'streams',
  'vector-store',
  'fallbacks',
  'framing',
  'continuation',
  'wires',
  'examples',
  'chaos',
  'bench',
].map((name) => `build/test/${name}`);

/** The longest come first: the last to end should not be one that has just begun. */
const weigh = (suite: string): number => {
  const folder = suite.replace(/\.test\.js$/, '');
  const place = longest.indexOf(folder);
  if (place >= 0) return Number.MAX_SAFE_INTEGER - place;
  const files = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(folder).map((name) => join(folder, name))
    : [suite];
  return files
    .filter((name) => name.endsWith('.test.js'))
    .reduce((bytes, name) => bytes + statSync(name).size, 0);
};

const compiled = (source: string): string => join('build', source.replace(/\.ts$/, '.js'));
const every = (): string[] =>
  readdirSync('build/test')
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => join('build/test', name));

/** True when it passed. */
const run = async (suite: string): Promise<boolean> => {
  const begun = performance.now();
  const child = spawn(process.execPath, ['--enable-source-maps', suite], {
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(seconds) },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'));
    child.once('error', (error) => resolve(error.message));
  });
  const output = await text(child.stdout);
  const { passed, skipped, complaints } = judge(output, await ended);
  const time = ((performance.now() - begun) / 1000).toFixed(1);
  const word = complaints.length === 0 ? 'ok    ' : 'not ok';
  const left = skipped === 0 ? '' : `, ${skipped} left out`;
  console.log([`${word} ${suite}: ${passed} checks${left}, ${time} s`, ...complaints].join('\n'));
  return complaints.length === 0;
};

const { operands, values } = readCommandLine({
  command: 'npm test',
  summary: 'Runs every suite, or those that are named: test/chat.test.ts, test/http/uws.test.ts.',
  operands: '[suite …]',
  options: { long: { help: 'those that have tests for npm run test:long' } },
});
const asked = values.long ? [...operands, ...longSuites()] : operands;
orEnd('npm test', () => {
  const unknown = asked.find((suite) => !existsSync(compiled(suite)));
  if (unknown !== undefined) throw new Error(`no such suite: ${unknown}`);
});
const waiting = (asked.length === 0 ? every() : asked.map(compiled)).sort(
  (one, other) => weigh(other) - weigh(one),
);
const failed: string[] = [];
const begun = performance.now();
const count = waiting.length;
const work = async (): Promise<void> => {
  for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift())
    if (!(await run(suite))) failed.push(suite);
};
await Promise.all(Array.from({ length: atOnce }, work));
console.log(
  `Node ${process.versions.node}: ${count - failed.length} of ${count} suites passed in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
);
if (failed.length > 0) console.log(`failed: ${failed.join(' ')}`);
process.exitCode = failed.length === 0 && count > 0 ? 0 : 1;
