/** Opens the playground with a key, and waits for what its forms say. */
import type { Locator, Page } from 'playwright-core';
import type { Scene } from './scene.ts';

/** A kind of model, as its tab in the address. */
export const openPlayground = async ({ page, root, key }: Scene, modality: string): Promise<void> => {
  await page.addInitScript(`sessionStorage.setItem('sluice.key', ${JSON.stringify(key)})`);
  await page.goto(`${root}/#/playground/${modality}`);
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
  await page.getByText('in use').waitFor();
};

/** Of the form with that button. */
export const stateOf = (page: Page, action: string): Locator =>
  page
    .locator('form', { has: page.getByRole('button', { name: action, exact: true }) })
    .getByRole('status')
    .last();

/** Sends by that button, and waits until it is done. */
export const send = async (page: Page, action: string): Promise<void> => {
  await page.getByRole('button', { name: action, exact: true }).click();
  await stateOf(page, action).getByText('Done.').waitFor();
};

/** Seconds after which a sound is this far. */
export const played = (player: Locator): Promise<number> =>
  player.evaluate(async (element: { play(): Promise<void>; currentTime: number }) => {
    await element.play();
    const begun = Date.now();
    while (element.currentTime < 0.2 && Date.now() - begun < 10_000)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return element.currentTime;
  });
