/** The AI SDK of one version: a script of checks, run beside its packages. */
import type { Client, Site } from '../client.ts';
import { runChecks } from '../script-checks.ts';

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
    await runChecks(site, new URL('ai-sdk-checks.mjs', import.meta.url), { seconds: 240 });
  },
});
