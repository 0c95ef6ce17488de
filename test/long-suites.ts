/** Finds the suites that have tests for `npm run test:long`: they import `long.ts`. */
import { readdirSync, readFileSync } from 'node:fs';

const importsLong = / from '[./]*\/long\.ts';$/m;

/** Paths of all files that do, suites and others. */
export const filesThatTakeLong = (): readonly string[] =>
  readdirSync('test', { recursive: true })
    .map((name) => `test/${String(name)}`)
    .filter((file) => file.endsWith('.ts') && importsLong.test(readFileSync(file, 'utf8')))
    .sort();

export const longSuites = (): readonly string[] =>
  filesThatTakeLong().filter((file) => file.endsWith('.test.ts'));
