/** The public page: first visit, model catalog, the visitor's key, API reference. */
import assert from 'node:assert/strict';
import { checkAccessibility } from '../axe.ts';
import type { Scenarios } from '../scene.ts';

const scenarios: Scenarios = {
  'a first visit explains the gateway': async ({ page, root, screenshot }) => {
    await page.goto(root);
    await page.getByRole('heading', { name: 'Sluice', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'the base URL' }).getByText(`${root}/v1`).waitFor();
    const example = page.getByRole('region', { name: /^the request in/ });
    await example.getByText(`curl -N ${root}/v1/chat/completions`).waitFor();
    await checkAccessibility(page);
    await screenshot('public-overview');

    const tabs = page.getByRole('tablist', { name: 'Language' });
    await tabs.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await example.getByText('from openai import OpenAI').waitFor();
    await page.keyboard.press('End');
    await example.getByText(`Anthropic(base_url="${root}"`).waitFor();
    await page.getByRole('button', { name: 'Copy the request in Anthropic SDK' }).click();
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^# pip install anthropic\n/);
  },

  'the whole page can be used by keyboard': async ({ page, root }) => {
    await page.goto(root);
    await page.getByRole('heading', { name: 'Sluice', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    await page.getByRole('link', { name: 'Models', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
    assert.equal(await page.title(), 'Models · Sluice');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'the new page has the focus');
    await page.goBack();
    await page.getByRole('heading', { name: 'Sluice', level: 1 }).waitFor();
  },

  'the catalog says what each model can do and costs': async ({ page, root, screenshot }) => {
    await page.goto(`${root}/#/models`);
    const rows = page.getByRole('table', { name: 'Models on offer' }).locator('tbody tr');
    await page.getByText('15 of 15 models').waitFor();
    assert.equal(await rows.count(), 15);
    await page.getByText('$0.30 input · $1.20 output per million tokens').waitFor();
    await checkAccessibility(page);
    await screenshot('public-models');

    await page.getByLabel('Filter').fill('thinks tools');
    await page.getByText('2 of 15 models').waitFor();
    await page.getByLabel('Filter').fill('');
    await page.getByLabel('Kind').selectOption('image');
    await page.getByText('2 of 15 models').waitFor();
    await page.getByLabel('Filter').fill('<img src=x onerror=alert(1)>');
    await page.getByText('No model matches the filter.').waitFor();
    await page.getByLabel('Filter').fill('');

    await page.getByRole('button', { name: 'Price' }).click();
    assert.match(await rows.first().innerText(), /^Image\n/);
    await page.getByRole('button', { name: 'Price' }).click();
    assert.match(await rows.first().innerText(), /^Image Edit\n/);
    await page.getByRole('link', { name: 'Image', exact: true }).click();
    await page.getByText('$0.005 per megapixel').waitFor();
    await checkAccessibility(page);
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/playground?model=sluice%2Fimage');
    await page.goto(`${root}/#/models/none`);
    await page.getByText('There is no model “none”.').waitFor();
    await page.goto(`${root}/#/nowhere`);
    await page.getByText('There is no page “nowhere”.').waitFor();
  },

  'a key is checked, and kept in its tab only': async ({ page, context, root, key, expectError }) => {
    await page.goto(root);
    expectError(/the server responded with a status of 401/);
    await page.getByLabel('API key').fill('sk-wrong');
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('alert').getByText('401: ').waitFor();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('in use').waitFor();
    await checkAccessibility(page);
    assert.ok(!(await page.content()).includes(key), 'the key is not shown');
    await page.reload();
    await page.getByText('in use').waitFor();
    const another = await context.newPage();
    await another.goto(root);
    await another.getByLabel('API key').waitFor();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByLabel('API key').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0);
  },

  'light and dark follow the system until one is chosen': async ({ page, root }) => {
    const theme = () => page.evaluate<string>('document.documentElement.dataset.theme');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(root);
    await page.getByRole('button', { name: 'Light' }).waitFor();
    assert.equal(await theme(), 'dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Dark' }).click();
    assert.equal(await theme(), 'dark');
    await page.reload();
    await page.getByRole('button', { name: 'Light' }).waitFor();
    assert.equal(await theme(), 'dark', 'the choice is kept');
  },

  'the API reference is served by the gateway': async ({ page, root, screenshot, expectError }) => {
    // The viewer tries whether it may compile code, and does without.
    expectError(/^CSP violation: script-src eval$/);
    await page.goto(`${root}/docs`);
    assert.equal(page.url(), `${root}/reference`);
    await screenshot('reference', async (scheme) => {
      await page.locator(`body.${scheme}-mode`).waitFor();
      await page.getByText('/chat/completions').first().waitFor();
    });
    await page.getByRole('link', { name: '← Sluice' }).click();
    await page.getByRole('region', { name: 'the base URL' }).waitFor();
  },
};

export default scenarios;
