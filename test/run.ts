/**
 * Runs the named suites or folders of suites, or all folders, compiled and each in its own process.
 * tap runs single suites; its runner instruments every module of every process for coverage, which costs more than
 * most suites do.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { orEnd, readCommandLine } from './command-line.ts';
import { longSuites } from './long-suites.ts';
import { judge } from './verdict.ts';

/** Suites wait for much of their time: for processes, deadlines, timers. */
const atOnce = availableParallelism() + 2;
/** Divides the ports of services, `freePort`, among suites that run at the same time; ports a thousand apart stay together. */
const lanes = [1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100].find((divisor) => divisor >= atOnce) ?? 100;
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
].map((name) => `test/${name}`);

const ending = /\.test\.ts$/;
const compiled = (source: string): string => join('build', source.replace(/\.ts$/, '.js'));
const isFolder = (name: string): boolean => !ending.test(name);
const suitesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
const isSuite = (name: string): boolean =>
  isFolder(name)
    ? statSync(name, { throwIfNoEntry: false })?.isDirectory() === true && suitesIn(name).length > 0
    : existsSync(compiled(name));
const every = (): string[] =>
  readdirSync('test')
    .map((name) => join('test', name))
    .filter(isSuite);

/** The longest come first: the last to end should not be one that has just begun. */
const weigh = (suite: string): number => {
  const place = longest.indexOf(suite);
  if (place >= 0) return Number.MAX_SAFE_INTEGER - place;
  const files = isFolder(suite) ? suitesIn(suite) : [suite];
  return files.reduce((bytes, name) => bytes + statSync(name).size, 0);
};

/** A process that lives for seconds gets little back for code that is optimized early: a tenth of its CPU time. */
const flags = ['--enable-source-maps', '--interrupt-budget=1000000'];

/** True when it passed. */
const run = async (suite: string, lane: number): Promise<boolean> => {
  const begun = performance.now();
  const program = isFolder(suite) ? [compiled('test/suites.ts'), relative('test', suite)] : [compiled(suite)];
  const child = spawn(process.execPath, [...flags, ...program], {
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(seconds), SLUICE_TEST_PORTS: `${lane}/${lanes}` },
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
  summary: 'Runs every suite, or those that are named: test/chat, test/http/uws.test.ts.',
  operands: '[suite …]',
  options: { long: { help: 'those that have tests for npm run test:long' } },
});
const named = operands.map((name) => name.replace(/\/+$/, ''));
const asked = values.long ? [...named, ...longSuites()] : named;
orEnd('npm test', () => {
  const unknown = asked.find((suite) => !isSuite(suite));
  if (unknown !== undefined) throw new Error(`no such suite: ${unknown}`);
});
const waiting = (asked.length === 0 ? every() : asked).sort((one, other) => weigh(other) - weigh(one));
const failed: string[] = [];
const begun = performance.now();
const count = waiting.length;
const work = async (lane: number): Promise<void> => {
  for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift())
    if (!(await run(suite, lane))) failed.push(suite);
};
await Promise.all(Array.from({ length: Math.min(atOnce, lanes) }, (_, lane) => work(lane)));
console.log(
  `Node ${process.versions.node}: ${count - failed.length} of ${count} suites passed in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
);
if (failed.length > 0) console.log(`failed: ${failed.join(' ')}`);
process.exitCode = failed.length === 0 && count > 0 ? 0 : 1;
