/** Opens the built site in Chromium: every diagram is drawn in both schemes, search finds, and nothing is loaded from elsewhere. */
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { eventually, patiently } from '../../eventually.ts';

export interface Visit {
  readonly origin: string;
  /** Addresses of pages with diagrams, and how many each has. */
  readonly diagrams: ReadonlyMap<string, number>;
  /** Folder for pictures of some pages; undefined: none are taken. */
  readonly screenshots: string | undefined;
}

export interface Findings {
  readonly drawn: number;
  readonly problems: readonly string[];
}

const schemes = ['light', 'dark'] as const;

export const visitSite = async (executablePath: string, visit: Visit): Promise<Findings> => {
  // In a container there are no user namespaces.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const problems: string[] = [];
  let drawn = 0;
  try {
    for (const scheme of schemes) {
      const page = await openPage(browser, scheme, visit.origin, problems);
      for (const [address, count] of visit.diagrams) {
        await page.goto(`${visit.origin}/${address}`);
        drawn += await checkDiagrams(page, address, count, scheme, problems);
        if (visit.screenshots !== undefined) {
          await page.locator('.diagram').first().scrollIntoViewIfNeeded();
          const name = `${address.replaceAll(/\W+/g, '-')}-${scheme}.png`;
          await page.screenshot({ path: join(visit.screenshots, name) });
        }
      }
      await checkSearch(page, visit, scheme, problems);
      await page.context().close();
    }
  } finally {
    await browser.close();
  }
  return { drawn, problems };
};

const openPage = async (
  browser: Browser,
  colorScheme: 'light' | 'dark',
  origin: string,
  problems: string[],
): Promise<Page> => {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patiently(30_000));
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      problems.push(`${page.url()}: requests ${request.url()}`);
  });
  return page;
};

/** How many were drawn. */
const checkDiagrams = async (
  page: Page,
  address: string,
  count: number,
  scheme: string,
  problems: string[],
): Promise<number> => {
  await eventually(
    async () => (await page.locator('.diagram-source:not([data-failure])').count()) === 0,
    'every diagram is drawn',
  ).catch(() => problems.push(`${address}: a diagram is not drawn (${scheme})`));
  const failures = await page
    .locator('.diagram-source')
    .evaluateAll((all) =>
      all.map((one) => `${one.getAttribute('data-failure')}: ${one.textContent?.slice(0, 80)}`),
    );
  problems.push(...failures.map((failure) => `${address}: ${failure}`));
  const boxes = await page.locator('.diagram svg').evaluateAll((all) =>
    all.map((one) => {
      const { width, height } = one.getBoundingClientRect();
      return { width, height, texts: one.textContent?.trim().length ?? 0 };
    }),
  );
  if (boxes.length + failures.length !== count)
    problems.push(`${address}: ${boxes.length} diagrams drawn of ${count} (${scheme})`);
  for (const { width, height, texts } of boxes)
    if (width < 50 || height < 30 || texts < 5) problems.push(`${address}: a diagram is empty (${scheme})`);
  return boxes.length;
};

const checkSearch = async (page: Page, visit: Visit, scheme: string, problems: string[]): Promise<void> => {
  await page.goto(`${visit.origin}/`);
  if (visit.screenshots !== undefined)
    await page.screenshot({ path: join(visit.screenshots, `home-${scheme}.png`), fullPage: true });
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click();
  await page.locator('#localsearch-input').fill('circuit breaker');
  await page.locator('.VPLocalSearchBox .result').first().waitFor();
  const found = await page.locator('.VPLocalSearchBox .result').allInnerTexts();
  if (!found.some((text) => /routing/i.test(text)))
    problems.push(`search for "circuit breaker" finds ${found.join(' | ').slice(0, 200)}`);
  if (visit.screenshots !== undefined)
    await page.screenshot({ path: join(visit.screenshots, `search-${scheme}.png`) });
};
