/**
 * Drives the pages of the built gateway in Chromium: `npm run test:console`, or with names of some files of `browser`.
 * `-- --screenshots` replaces those of the docs, `-- --allow-missing` ends well where there is no browser.
 */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { startBuiltGateway } from '../clients/gateway.ts';
import { readCommandLine } from '../command-line.ts';
import { patiently } from '../eventually.ts';
import { freePort } from '../services/child.ts';
import { chromiumPath, missingChromium } from './chromium.ts';
import { openScene, type Scenario, type Scenarios, type Target } from './scene.ts';

const { values, operands } = readCommandLine({
  command: 'npm run test:console',
  summary: 'Drives the pages of the built gateway in Chromium.',
  operands: '[FILE…]',
  options: {
    screenshots: { help: 'replace the screenshots of the docs' },
    'allow-missing': { help: 'end well where there is no browser' },
  },
});

if (chromiumPath === undefined) {
  console.log(`console exercised: no (${missingChromium})`);
  process.exit(values['allow-missing'] ? 0 : 1);
}

const folder = new URL('browser/', import.meta.url);
const known = readdirSync(folder)
  .filter((name) => /\.[jt]s$/.test(name))
  .sort();
const wanted = known.filter((name) => operands.length === 0 || operands.some((word) => name.includes(word)));
if (wanted.length === 0) {
  console.error(
    `npm run test:console: no file of test/console/browser has ${operands.join(' or ')} in its name`,
  );
  process.exit(2);
}

const longestMs = patiently(120_000);
const failures = mkdtempSync(join(tmpdir(), 'sluice-console-'));
const screenshots = values.screenshots
  ? fileURLToPath(new URL('../../docs/screenshots', import.meta.url))
  : join(failures, 'screenshots');

/** Undefined: it passed. */
const run = async (
  browser: Browser,
  target: Target,
  scenario: Scenario,
  name: string,
): Promise<string | undefined> => {
  const { scene, problems, close } = await openScene(browser, target, screenshots);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${longestMs / 1000} s`)), longestMs);
  });
  try {
    await Promise.race([scenario(scene), late]);
    const found = problems();
    return found.length === 0 ? undefined : found.join('\n');
  } catch (error) {
    const file = join(failures, `${name.replaceAll(/\W+/g, '-')}.png`);
    await scene.page.screenshot({ path: file, timeout: 5_000 }).catch(() => {});
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [message, ...problems(), `the page then: ${file}`].join('\n');
  } finally {
    clearTimeout(timer);
    await close();
  }
};

const adminToken = 'admin-token-of-the-console-suite';
const adminPort = await freePort();
const gateway = await startBuiltGateway({
  env: {
    SLUICE_ADMIN_PORT: String(adminPort),
    SLUICE_ADMIN_TOKEN: adminToken,
    // Webhook receivers of the scenarios listen on loopback.
    SLUICE_ALLOW_PRIVATE_URLS: '1',
  },
});
const target: Target = {
  root: gateway.origin,
  admin: `http://127.0.0.1:${adminPort}`,
  key: gateway.key,
  adminToken,
};
const browser = await chromium.launch({
  executablePath: chromiumPath,
  // In a container there are no user namespaces; a microphone and sound without hardware or a click.
  args: [
    '--no-sandbox',
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    '--autoplay-policy=no-user-gesture-required',
  ],
});
let [passed, failed] = [0, 0];
try {
  for (const file of wanted) {
    const { default: scenarios } = (await import(new URL(file, folder).href)) as { default: Scenarios };
    for (const [name, scenario] of Object.entries(scenarios)) {
      const begun = performance.now();
      const problem = await run(browser, target, scenario, name);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(`${problem === undefined ? 'ok' : 'not ok'} - ${file}: ${name} (${seconds} s)`);
      if (problem === undefined) passed++;
      else {
        failed++;
        console.log(problem.replaceAll(/^/gm, '    '));
      }
    }
  }
} finally {
  await browser.close();
  await gateway.stop();
}
console.log(`console exercised: ${passed} scenarios passed, ${failed} failed, ${browser.version()}`);
process.exit(failed === 0 ? 0 : 1);
