/** Chromium, without a window: what pages can do with the gateway by the browser's own means. */
import { chromiumPath, missingChromium } from '../../console/chromium.ts';
import type { Client } from '../client.ts';
import { runChecks } from '../script-checks.ts';

const client: Client = {
  name: 'Chromium: fetch, EventSource',
  registry: 'npm',
  packages: { 'playwright-core': '1.65.0' },
  missing: () => missingChromium,
  run: (site) =>
    runChecks(site, new URL('chromium-checks.mjs', import.meta.url), {
      env: { BROWSER: chromiumPath ?? '' },
      seconds: 180,
    }),
};

export default client;
