/** Checks a page for accessibility with axe, in both colour schemes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Throws with one line for each violation. */
export const checkAccessibility = async (page: Page): Promise<void> => {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    // Not by a script element, which the Content-Security-Policy of the page refuses.
    await page.evaluate(source);
    const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
      'axe.run(document, { resultTypes: ["violations"] })',
    );
    if (violations.length > 0)
      throw new Error(`${page.url()} (${colorScheme}):\n${violations.flatMap(linesOf).join('\n')}`);
  }
};

const linesOf = ({ id, help, nodes }: Violation): string[] =>
  nodes.map(
    ({ target, failureSummary = '' }) =>
      `  ${id}: ${help}: ${target.join(' ')} ${failureSummary.replaceAll('\n', ' ')}`,
  );
