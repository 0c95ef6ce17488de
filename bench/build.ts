/** Compiles the parts that run as processes, so that measured code contains no loader hooks. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

const bench = import.meta.dirname;
const built = new Map<string, string>();

/** Folder of the compiled engine, floor and load generator; this one, where it is compiled itself. */
export const buildParts = (): string =>
  import.meta.filename.endsWith('.js') ? bench : build(path.join(bench, 'tsconfig.json'));

/** File of the compiled micro-benchmarks, with the current product code. */
export const buildMicro = (): string =>
  path.join(build(path.join(bench, 'micro', 'tsconfig.json')), 'bench', 'micro', 'main.js');

/** Built once, removed when this process exits. */
const build = (project: string): string => {
  const known = built.get(project);
  if (known !== undefined) return known;
  const parent = path.join(bench, 'results');
  mkdirSync(parent, { recursive: true });
  // Inside the project, so that its packages are found from there.
  const folder = mkdtempSync(path.join(parent, 'build-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const compiler = path.join(bench, '..', 'node_modules', 'typescript', 'bin', 'tsc');
  // Hooks that a test runner injects into child processes with this variable break the compiler.
  const plain = ['-u', 'NODE_OPTIONS', process.execPath];
  execFileSync('env', [...plain, compiler, '-p', project, '--outDir', folder], { stdio: ['ignore', 2, 2] });
  built.set(project, folder);
  return folder;
};
