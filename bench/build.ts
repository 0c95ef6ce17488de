/** Compiles the parts that run as processes of their own: measured code must not carry what a loader puts into it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';

const bench = import.meta.dirname;
let built: string | undefined;

/** Folder of the compiled engine, floor and load generator; made once, gone when this process ends. */
export const buildParts = (): string => {
  if (built !== undefined) return built;
  const parent = path.join(bench, 'results');
  mkdirSync(parent, { recursive: true });
  // Inside the project, so that its packages are found from there.
  const folder = mkdtempSync(path.join(parent, 'build-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const compiler = path.join(bench, '..', 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', path.join(bench, 'tsconfig.json'), '--outDir', folder], {
    stdio: ['ignore', 2, 2],
  });
  built = folder;
  return folder;
};
