/** What a scenario works with: a gateway, a tab of a fresh browser profile, and what went wrong in it. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { patiently } from '../eventually.ts';

export interface Target {
  /** Of the public port, without `/v1`. */
  readonly root: string;
  /** Of the operator's port. */
  readonly admin: string;
  readonly key: string;
  readonly adminToken: string;
}

export interface Scene extends Target {
  readonly page: Page;
  /** Its profile, for more tabs. */
  readonly context: BrowserContext;
  /** The scenario provokes this message in the browser's console; it fails if none comes. */
  expectError(pattern: RegExp): void;
  /** Another gateway that the scenario started: requests to it are no error. */
  allowOrigin(origin: string): void;
  /** Opens the console and signs in. */
  signIn(): Promise<void>;
  /**
   * Saves the tab in both colour schemes, for the docs where the command asks for it. `ready`: waits until the tab shows
   * a scheme.
   */
  screenshot(name: string, ready?: (scheme: ColourScheme) => Promise<void>): Promise<void>;
}

export type ColourScheme = 'light' | 'dark';

export type Scenario = (scene: Scene) => Promise<void>;

/** In this order, each in a profile of its own, on the same gateway. */
export type Scenarios = Readonly<Record<string, Scenario>>;

export const viewport = { width: 1280, height: 800 };
const mostScreenshotBytes = 200_000;

/** Written to the console, where all errors are collected. */
const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI));`;

export interface OpenedScene {
  readonly scene: Scene;
  /** Errors of the browser's console, scripts that threw, requests to elsewhere; expected ones that did not come. */
  problems(): readonly string[];
  close(): Promise<void>;
}

export const openScene = async (
  browser: Browser,
  target: Target,
  screenshots: string,
): Promise<OpenedScene> => {
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  context.setDefaultTimeout(patiently(15_000));
  await context.addInitScript({ content: reportViolations });
  const seen: string[] = [];
  const expected: RegExp[] = [];
  const origins = new Set([target.root, target.admin].map((address) => new URL(address).origin));
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.push(message.text());
  });
  context.on('weberror', (error) => seen.push(String(error.error())));
  context.on('request', (request) => {
    const { protocol, origin, href } = new URL(request.url());
    if (/^https?:$/.test(protocol) && !origins.has(origin)) seen.push(`request to elsewhere: ${href}`);
  });
  const page = await context.newPage();
  const scene: Scene = {
    ...target,
    page,
    context,
    expectError: (pattern) => expected.push(pattern),
    allowOrigin: (origin) => origins.add(origin),
    signIn: async () => {
      await page.goto(target.admin);
      await page.getByLabel('Admin token').fill(target.adminToken);
      await page.getByRole('button', { name: 'Open the console' }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    },
    screenshot: (name, ready) => saveScreenshots(page, join(screenshots, name), ready),
  };
  return {
    scene,
    problems: () => [
      ...seen.filter((text) => !expected.some((pattern) => pattern.test(text))),
      ...expected
        .filter((pattern) => !seen.some((text) => pattern.test(text)))
        .map((pattern) => `no error ${pattern}, which was expected`),
    ],
    close: () => context.close(),
  };
};

const saveScreenshots = async (
  page: Page,
  path: string,
  ready?: (scheme: ColourScheme) => Promise<void>,
): Promise<void> => {
  mkdirSync(join(path, '..'), { recursive: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await ready?.(colorScheme);
    const file = `${path}-${colorScheme}.png`;
    await page.screenshot({ path: file });
    const { size } = statSync(file);
    if (size > mostScreenshotBytes)
      throw new Error(`${file} has ${size} bytes, of at most ${mostScreenshotBytes}`);
  }
};
