/** The console's audit log: entries of changes, filters, before and after, older pages. */
import assert from 'node:assert/strict';
import { checkAccessibility } from '../axe.ts';
import { adminCall, newKey } from '../calls.ts';
import type { Scenarios } from '../scene.ts';

const scenarios: Scenarios = {
  'changes are in the audit log, with what was before and after': async (scene) => {
    const { page, signIn, screenshot } = scene;
    const { id, subscription } = await newKey(scene, 'audited', { models: ['sluice/chat'] });
    await adminCall(scene, 'PATCH', `/keys/${id}`, { name: 'renamed', models: null });
    await adminCall(scene, 'POST', `/keys/${id}/suspend`);
    const budget = await adminCall(scene, 'POST', '/budgets', { key: id, amount: '5', period: 'day' });
    await adminCall(scene, 'DELETE', `/budgets/${budget.id}`);
    await signIn();
    await page.getByRole('link', { name: 'Audit' }).click();
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await page.getByLabel('Subscription', { exact: true }).selectOption(subscription);
    await page.getByText('6 of 6 entries').waitFor();
    assert.deepEqual(
      (await rows.allInnerTexts()).map((text) => /[a-z]+\.[a-z]+/.exec(text)?.[0]),
      ['budget.remove', 'budget.create', 'key.suspend', 'key.update', 'key.create', 'subscription.create'],
    );
    await rows.filter({ hasText: 'status: active → suspended' }).waitFor();
    await checkAccessibility(page);
    await screenshot('console-audit');

    await page.getByLabel('Action').selectOption('key.update');
    await page.getByText('1 of 6 entries').waitFor();
    await page.getByRole('button', { name: /^Before \/ after of key.update/ }).click();
    const changed = page.getByRole('table', { name: 'What changed' }).locator('tbody tr');
    await changed.first().waitFor();
    assert.deepEqual(
      (await changed.allInnerTexts()).map((text) => text.split(/\s*\t\s*/)),
      [
        ['name', 'audited', 'renamed'],
        ['models', '["sluice/chat"]', '–'],
      ],
    );
    await page.getByRole('region', { name: 'what it became' }).getByText('"name": "renamed"').waitFor();
    await checkAccessibility(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByLabel('Action').selectOption('');
    await page.getByLabel('Search').fill(`${budget.id} remove`);
    await page.getByText('1 of 6 entries').waitFor();
    await page.getByLabel('Search').fill('');
    await rows.first().waitFor();
    await page.getByRole('link', { name: id }).first().click();
    await page.getByRole('heading', { name: 'renamed', level: 1 }).waitFor();
  },

  'older entries are loaded on request': async (scene) => {
    const { page, signIn } = scene;
    const { id, subscription } = await newKey(scene, 'busy');
    for (let count = 0; count < 52; count++)
      for (const verb of ['suspend', 'resume']) await adminCall(scene, 'POST', `/keys/${id}/${verb}`);
    await signIn();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Subscription', { exact: true }).selectOption(subscription);
    await page.getByText('100 of 100 entries').waitFor();
    await page.getByRole('button', { name: 'Load older ones' }).click();
    await page.getByText('106 of 106 entries').waitFor();
    await page.getByRole('cell', { name: 'subscription.create', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Load older ones' }).count(), 0);
  },
};

export default scenarios;
