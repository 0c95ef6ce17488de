/**
 * Rebuilds `build/`: everything compiled, with links to all other files beside it.
 * So a path from a test leads to the same file as from its source. `npm test` runs the result: no test process compiles.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const target = 'build';
const elsewhere = new Set(['.git', '.tap', 'data', 'docs/.vitepress/cache', 'docs/.vitepress/dist', target]);
const whole = new Set(['dist', 'node_modules']);

const link = (folder) => {
  mkdirSync(join(target, folder), { recursive: true });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (elsewhere.has(path)) continue;
    if (entry.isDirectory() && !whole.has(path)) link(path);
    else symlinkSync(join(process.cwd(), path), join(target, path));
  }
};

rmSync(target, { recursive: true, force: true });
link('.');
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'], {
  stdio: 'inherit',
});
