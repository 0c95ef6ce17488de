/** The console: its token, its pages and their accessibility. */
import assert from 'node:assert/strict';
import { eventually } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import type { Scenarios } from '../scene.ts';

const pages = [
  'Live',
  'Usage',
  'Keys & limits',
  'Models & engines',
  'Jobs & webhooks',
  'Audit',
  'Playground',
];

const scenarios: Scenarios = {
  'a wrong token does not open the console': async ({ page, admin, adminToken, expectError, screenshot }) => {
    expectError(/the server responded with a status of 401/);
    await page.goto(admin);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await checkAccessibility(page);
    await screenshot('console-sign-in');
    await page.getByLabel('Admin token').fill('not-the-token-at-all');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The gateway does not accept this token.').waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 0);
    await checkAccessibility(page);
    await page.getByLabel('Admin token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  },

  'a token that is refused later leads back to the sign-in': async ({ page, admin, expectError }) => {
    expectError(/the server responded with a status of 401/);
    await page.goto(admin);
    await page.evaluate('sessionStorage.setItem("sluice.token", "revoked-token-of-yesterday")');
    await page.reload();
    await page.getByText('The gateway does not accept this token.').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  },

  'the token stays in its tab until one signs out': async ({ page, context, admin, signIn }) => {
    await signIn();
    await page.reload();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const another = await context.newPage();
    await another.goto(admin);
    await another.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  },

  'every page of the console is accessible': async ({ page, signIn }) => {
    await signIn();
    for (const name of pages) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await eventually(async () => (await page.getByText('Loading …').count()) === 0, `${name} is loaded`);
      await checkAccessibility(page);
    }
  },

  'the console fits a small screen': async ({ page, signIn }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await signIn();
    for (const name of pages) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(overflow, 0, `${name} is wider than the screen`);
    }
  },
};

export default scenarios;
