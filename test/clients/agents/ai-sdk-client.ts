/** The AI SDK of one version: a script of checks, run beside its packages. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client, Site } from '../client.ts';

const script = fileURLToPath(new URL('ai-sdk-checks.mjs', import.meta.url));

interface Line {
  readonly check: string;
  readonly seconds: number;
  readonly problem: string | null;
}

export const aiSdkClient = (
  name: string,
  packages: Client['packages'],
  runBlocks: (site: Site) => Promise<void> = async () => {},
): Client => ({
  name,
  registry: 'npm',
  packages,
  async run(site) {
    await runBlocks(site);
    // Node looks for packages where a script is.
    const copy = join(site.folder, 'checks.mjs');
    copyFileSync(script, copy);
    const { stdout } = await site.run(process.execPath, [copy], { seconds: 240 });
    const lines = stdout.split('\n').filter((line) => line.startsWith('{"check":'));
    if (lines.length === 0) throw new Error('it ran no check');
    for (const line of lines) {
      const { check, seconds, problem } = JSON.parse(line) as Line;
      site.report(check, problem ?? undefined, seconds);
    }
  },
});
