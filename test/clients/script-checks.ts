/** Runs a script of checks beside a client's packages: it prints each result as a line of JSON. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunOptions, Site } from './client.ts';

interface Line {
  readonly check: string;
  readonly seconds: number;
  readonly problem: string | null;
}

export const runChecks = async (site: Site, script: URL, options: RunOptions): Promise<void> => {
  // Node looks for packages where a script is.
  const copy = join(site.folder, 'checks.mjs');
  copyFileSync(fileURLToPath(script), copy);
  const { stdout } = await site.run(process.execPath, [copy], options);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"check":'));
  if (lines.length === 0) throw new Error('it ran no check');
  for (const line of lines) {
    const { check, seconds, problem } = JSON.parse(line) as Line;
    site.report(check, problem ?? undefined, seconds);
  }
};
