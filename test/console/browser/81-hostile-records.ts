/** Names, tags, metadata and addresses that are markup: they are shown as text on every page. */
import assert from 'node:assert/strict';
import { patiently } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import { adminCall, publicCall } from '../calls.ts';
import type { Scenarios } from '../scene.ts';

const markup = `<img src=x onerror="document.title='run'">`;
const script = `"><script>document.title='run'</script>`;
const svg = `<svg/onload=document.title='run'>`;

const scenarios: Scenarios = {
  'markup in records stays text': async (scene) => {
    const { page, admin, signIn, expectError } = scene;
    const { id: subscription } = await adminCall(scene, 'POST', '/subscriptions', { name: markup });
    await signIn();
    await page.goto(`${admin}/#/keys?subscription=${subscription}`);
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill(script);
    await form.getByLabel('Metadata').fill(JSON.stringify({ [markup]: script }));
    await form.getByLabel('Tags').fill(markup);
    expectError(/the server responded with a status of 400/);
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form.getByRole('alert').getByText('tags must be 1 to 100 words').waitFor();
    await form.getByLabel('Tags').fill('plain');
    await form.getByRole('button', { name: 'Create the key' }).click();
    const secret = (await page.getByRole('region', { name: 'the secret' }).innerText()).trim();
    await page.getByRole('heading', { name: `Secret of ${script}` }).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const clean = async (): Promise<void> => {
      assert.match(await page.title(), /· Sluice console$/);
      assert.equal(await page.locator('img, #app script, [onload], [onerror]').count(), 0);
    };
    await page.getByRole('link', { name: script }).click();
    await page.getByRole('heading', { name: script, level: 1 }).waitFor();
    await page.getByRole('term').filter({ hasText: markup }).waitFor();
    await page.getByRole('link', { name: markup }).waitFor();
    await clean();

    await page.goto(`${admin}/#/keys/subscriptions/${subscription}`);
    await page.getByRole('heading', { name: markup, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New budget' }).click();
    await form.getByLabel('For', { exact: true }).selectOption('tag');
    await form.getByLabel('Tag', { exact: true }).fill(markup);
    await form.getByLabel('Amount in US dollars').fill('1');
    await form.getByLabel('Callback URL').fill(`https://example.com/?${svg}`);
    await form.getByRole('button', { name: 'Create the budget' }).click();
    await page
      .getByRole('table', { name: /^Budgets/ })
      .getByText(markup)
      .first()
      .waitFor();
    await checkAccessibility(page);
    await clean();

    const job = await publicCall(scene, secret, '/videos', {
      ...{ model: 'sluice/video', duration: 4, callback_url: `http://127.0.0.1:9/?${svg}` },
      prompt: '/sim render=500ms fail=render_failed@50%\nA storm',
    });
    assert.equal(job.status, 202, JSON.stringify(job.body));
    await page.goto(`${admin}/#/jobs?tab=deliveries&subscription=${subscription}`);
    await page.getByText(/127\.0\.0\.1:9/).waitFor({ timeout: patiently(60_000) });
    assert.equal(
      await page.getByRole('link', { name: /127\.0\.0\.1:9/ }).count(),
      0,
      'addresses are no links',
    );
    await clean();

    await page.goto(`${admin}/#/audit?subscription=${subscription}`);
    await page.getByRole('button', { name: /^Before \/ after of key.create/ }).click();
    await page.getByRole('table', { name: 'What changed' }).getByText(script).first().waitFor();
    await clean();
    await page.goto(`${admin}/#/keys?tab=subscriptions`);
    await page.getByRole('link', { name: markup }).waitFor();
    await clean();
    await page.goto(`${admin}/#/keys/${encodeURIComponent(markup)}`);
    expectError(/the server responded with a status of 404/);
    await page.getByRole('alert').waitFor();
    await clean();
  },
};

export default scenarios;
