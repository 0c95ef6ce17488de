/** Usage and cost: the chart, budgets, single events, exports. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Download } from 'playwright-core';
import { eventually } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import { type Operated, withGateway } from '../operated.ts';
import type { Scenarios } from '../scene.ts';

const tag = 'team:search';
const keyName = `<b onclick="document.title='run'">key</b>`;
const row = {
  ...{
    engine: 'simulator',
    context_length: 65_536,
    limits: { concurrency: 50, requests_per_minute: 100_000 },
  },
  pricing: { prompt: '0.00001', completion: '0.0001' },
};
const config = JSON.stringify({
  models: {
    'acme/writer': row,
    'acme/other': row,
    'acme/search': {
      ...{ ...row, kind: 'embedding', pricing: { prompt: '0.000001' } },
      capabilities: { embedding: { dimensions: 8, truncatable: true, batch: 32 } },
    },
  },
});

const use = async ({ post, call }: Operated): Promise<void> => {
  for (const model of ['acme/writer', 'acme/writer', 'acme/other']) {
    const messages = [{ role: 'user', content: '/sim tokens=100 rate=max\nGo on.' }];
    assert.equal((await post('/chat/completions', { model, messages })).status, 200);
  }
  const inputs = Array.from({ length: 57 }, () =>
    post('/embeddings', { model: 'acme/search', input: 'text' }),
  );
  for (const { status } of await Promise.all(inputs)) assert.equal(status, 200);
  const { data } = await call<{ data: readonly { id: string }[] }>('GET', '/keys');
  const [key] = data;
  assert.ok(key);
  await call('PATCH', `/keys/${key.id}`, { name: keyName, tags: [tag] });
  await call('POST', '/budgets', { tag, amount: '0.05', period: 'month' });
  await call('POST', '/budgets', { key: key.id, amount: '100', period: 'day' });
};

const textOf = async (download: Download): Promise<string> => readFileSync(await download.path(), 'utf8');

const scenarios: Scenarios = {
  'usage is drawn, filtered down to single events, and exported': async (scene) => {
    const { page } = scene;
    await withGateway(scene, config, async (gateway) => {
      await use(gateway);
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      const total = (name: string) => page.getByRole('term').filter({ hasText: name }).locator('xpath=../dd');
      await total('Requests').getByText('60').waitFor();
      assert.match(await total('Requests').innerText(), /^60\n0 failed$/);
      assert.match(await total('Tokens of responses').innerText(), /^300$/);
      await page
        .getByRole('img', { name: /^cost by day, stacked: acme\/writer, / })
        .locator('canvas')
        .waitFor();

      const budgets = page.getByRole('table', { name: 'Budgets and what is left' });
      await budgets.getByText(`tag ${tag}`).waitFor();
      await budgets.getByText(`key ${keyName}`).waitFor();
      await budgets.getByRole('meter', { name: `Budget of tag ${tag}` }).waitFor();
      await page.getByText('Page 1, 50 events').waitFor();
      assert.equal(await page.title(), 'Usage · Sluice console');
      assert.equal(await page.locator('#app img, #app b').count(), 0);
      await checkAccessibility(page);

      await page.getByLabel('Stacked by').selectOption('route');
      await page.getByLabel('Measure').selectOption('requests');
      await page
        .getByRole('img', { name: 'requests by day, stacked: /embeddings, /chat/completions' })
        .waitFor();
      await page.getByText('Numbers of the chart').first().click();
      const numbers = page.getByRole('table', { name: 'Numbers of the chart' });
      const today = new Date().toISOString().slice(0, 10);
      await numbers.getByRole('row', { name: new RegExp(`^${today} 57 3$`) }).waitFor();
      await page.getByLabel('Period').selectOption('24h');
      await page.getByRole('img', { name: /^requests by hour/ }).waitFor();
      await checkAccessibility(page);
      await page.getByLabel('Period').selectOption('custom');
      await page.getByLabel('From').fill('2026-01-02');
      await page.getByLabel('To', { exact: true }).fill('2026-01-01');
      await page.getByText('Must not be before the first day.').waitFor();
      await page.getByLabel('To', { exact: true }).fill('2026-01-03');
      await page.getByText('Nothing was used in this period.').waitFor();
      await page.getByLabel('Period').selectOption('30d');

      const events = page.getByRole('table', { name: 'Usage events' }).locator('tbody tr');
      await page.getByText('Page 1, 50 events').waitFor();
      await page.getByRole('button', { name: 'Older' }).click();
      await page.getByText('Page 2, 10 events').waitFor();
      assert.equal(await events.count(), 10);
      await page.getByLabel('Stacked by').selectOption('model');
      await page.getByRole('button', { name: 'Events of acme/other' }).click();
      await page.getByText('Page 1, 1 events').waitFor();
      assert.equal(await events.count(), 1);
      assert.equal(await page.getByLabel('Only model').inputValue(), 'acme/other');
      await events.first().getByRole('button').click();
      const dialog = page.getByRole('dialog', { name: 'Usage event' });
      await dialog.getByText('"outcome": "completed"').waitFor();
      await checkAccessibility(page);
      await page.keyboard.press('Escape');

      const download = async (name: string): Promise<readonly [string, string]> => {
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name }).click(),
        ]);
        return [file.suggestedFilename(), await textOf(file)];
      };
      const [csvName, csv] = await download('Events as CSV');
      assert.match(csvName, /^sluice-events-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv$/);
      const lines = csv.trimEnd().split('\r\n');
      assert.equal(lines.length, 2);
      assert.match(lines[0] ?? '', /^time,id,request_id,subscription,key,route,model,/);
      assert.ok(lines[1]?.includes(',acme/other,'));
      const [, json] = await download('Events as JSON');
      assert.deepEqual(
        (JSON.parse(json) as { model: string }[]).map(({ model }) => model),
        ['acme/other'],
      );
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('Page 1, 50 events').waitFor();
      assert.equal((await gateway.post('/embeddings', { model: 'acme/search', input: 'text' })).status, 200);
      // Events reach the ledger a moment after their response.
      await eventually(async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        await page.getByText('Page 1, 50 events').waitFor();
        return (await total('Requests').innerText()).startsWith('61');
      }, 'the new request is counted');
      const [, totals] = await download('Totals as CSV');
      assert.match(totals, /^day,model,requests,failed,/);
      assert.equal(totals.trimEnd().split('\r\n').length, 4);
    });
  },

  'a month of many models is stacked by the largest of them': async ({ page, admin, signIn, screenshot }) => {
    const today = Date.now();
    const data = Array.from({ length: 30 * 8 }, (_, index) => {
      const [day, model] = [Math.floor(index / 8), index % 8];
      const requests = Math.round((9 - model) * (30 + 20 * Math.sin(day / 2 + model) + day));
      return {
        ...{
          object: 'usage.total',
          day: dateOf(today - (29 - day) * 86_400_000),
          model: `acme/model-${model}`,
        },
        ...{ requests, failed: model, prompt_tokens: requests * 400, completion_tokens: requests * 90 },
        ...{ cached_tokens: requests * 120, reasoning_tokens: 0, inputs: 0, megapixels: 0, seconds: 0 },
        cost: String(requests / 200),
      };
    });
    const list = { object: 'list', data, has_more: false, links: { next: null } };
    await page.route(
      (url) => url.pathname === '/admin/v1/usage',
      (route) => route.fulfill({ json: list }),
    );
    await signIn();
    await page.goto(`${admin}/#/usage`);
    const stacked = /stacked: acme\/model-0, .*acme\/model-4, 3 others$/;
    await page.getByRole('img', { name: stacked }).locator('canvas').waitFor();
    const parts = page.getByRole('table', { name: 'Parts of the usage' }).locator('tbody tr');
    assert.equal(await parts.count(), 8);
    await parts.first().getByRole('button', { name: 'Events of acme/model-0' }).waitFor();
    await checkAccessibility(page);
    await screenshot('console-usage');
  },
};

const dateOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

export default scenarios;
