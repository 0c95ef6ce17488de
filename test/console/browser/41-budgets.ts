/** The console's budgets: made for a key, used up, raised, removed. */
import assert from 'node:assert/strict';
import { eventually } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import { adminCall, newKey, publicCall } from '../calls.ts';
import type { Scenarios } from '../scene.ts';

/** Costs $0.004608, which is known before it is made. */
const image = { model: 'sluice/image', prompt: 'A lighthouse', aspect_ratio: '16:9' };

const scenarios: Scenarios = {
  'a budget runs out, and is raised': async (scene) => {
    const { page, admin, signIn, screenshot, expectError } = scene;
    const { id, secret, subscription } = await newKey(scene, 'spender');
    const status = async () => (await publicCall(scene, secret, '/images', image)).status;
    await signIn();
    await page.goto(`${admin}/#/keys/${id}`);
    await page.getByText('There is no budget').waitFor();
    await page.getByRole('button', { name: 'New budget' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Amount in US dollars').fill('1,5');
    await form.getByLabel('Period').selectOption('total');
    expectError(/the server responded with a status of 400/);
    await form.getByRole('button', { name: 'Create the budget' }).click();
    await form
      .getByRole('alert')
      .getByText(/^amount /)
      .waitFor();
    await checkAccessibility(page);
    await form.getByLabel('Amount in US dollars').fill('0.009216');
    await form.getByRole('button', { name: 'Create the budget' }).click();
    const table = page.getByRole('table', { name: 'Budgets of this key' });
    await table.getByText('in budget').waitFor();
    await eventually(async () => {
      const seen = await status();
      assert.ok(seen === 200 || seen === 429, `an image gets ${seen}`);
      return seen === 429;
    }, 'the budget refuses an image');

    const refresh = page.getByRole('button', { name: 'Refresh the budgets' });
    await eventually(async () => {
      await refresh.click();
      return (await table.getByText('used up', { exact: true }).count()) === 1;
    }, 'the page shows that it is used up');
    await table.getByRole('cell', { name: '$0', exact: true }).first().waitFor();
    await checkAccessibility(page);
    await adminCall(scene, 'POST', '/budgets', { subscription, amount: '250', period: 'month' });
    await adminCall(scene, 'POST', '/budgets', {
      tag: 'nightly',
      amount: '0.011',
      period: 'total',
      subscription,
    });
    await page.goto(`${admin}/#/keys?tab=budgets`);
    await page.getByRole('table', { name: 'Budgets' }).getByText('nightly').first().waitFor();
    await checkAccessibility(page);
    await screenshot('console-budgets');

    await page.goto(`${admin}/#/keys/${id}`);
    await page.getByRole('button', { name: `Edit the budget of ${id}` }).click();
    await form.getByLabel('Amount in US dollars').fill('1');
    await form.getByRole('button', { name: 'Save' }).click();
    await table.getByText('in budget').waitFor();
    await eventually(async () => (await status()) === 200, 'an image is made again');

    await page.getByRole('button', { name: `Edit the budget of ${id}` }).click();
    await form.getByLabel('Amount in US dollars').fill('2');
    const { data } = await adminCall(scene, 'GET', '/budgets?limit=100');
    const { id: budget } = data.find(({ key }: { key?: string }) => key === id);
    await adminCall(scene, 'PATCH', `/budgets/${budget}`, { amount: '3' });
    expectError(/the server responded with a status of 412/);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('Somebody else changed it').waitFor();
    await form.getByRole('button', { name: 'Reload' }).click();
    await table.getByText('$3.00 in all').waitFor();

    await page.getByRole('button', { name: `Remove the budget of ${id}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the budget' }).click();
    await page.getByText('There is no budget').waitFor();
    assert.equal(await status(), 200);
  },
};

export default scenarios;
