/** Chromium, without a window: what pages can do with the gateway by the browser's own means. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Client } from '../client.ts';
import { runChecks } from '../script-checks.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const browser = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

const client: Client = {
  name: 'Chromium: fetch, EventSource',
  registry: 'npm',
  packages: { 'playwright-core': '1.65.0' },
  missing: () => (browser === undefined ? `none of ${names.join(', ')} is installed` : undefined),
  run: (site) =>
    runChecks(site, new URL('chromium-checks.mjs', import.meta.url), {
      env: { BROWSER: browser ?? '' },
      seconds: 180,
    }),
};

export default client;
