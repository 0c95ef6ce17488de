/** Models and engines: one that is killed, one that is drained, the catalog read again. */
import assert from 'node:assert/strict';
import { freePort } from '../../services/child.ts';
import { checkAccessibility } from '../axe.ts';
import { killEngine, startEngine, withGateway } from '../operated.ts';
import type { Scenarios } from '../scene.ts';

const markup = `</pre><script>document.title='run'</script>`;

const configOf = (ports: readonly number[], more: object = {}): string =>
  JSON.stringify({
    engines: {
      pool: {
        wire: 'openai',
        replicas: ports.map((port) => `http://127.0.0.1:${port}/v1`),
        headers: { 'x-team': 'secret-of-the-engine' },
        probe: { path: '/v1/models', interval: '200ms' },
        circuit_breaker: { connection_failures: 1, cooldown: '200ms', max_cooldown: '500ms' },
      },
    },
    models: {
      'acme/writer': {
        ...{ engine: 'pool', context_length: 8192 },
        pricing: { prompt: '0.000001', completion: '0.000002' },
      },
      'acme/hostile': { engine: 'simulator', context_length: 4096, name: markup },
      ...more,
    },
  });

const scenarios: Scenarios = {
  'a killed engine turns red and recovers; a replica is drained': async (scene) => {
    const { page, screenshot } = scene;
    const ports = [await freePort(), await freePort()] as const;
    let [first, second] = await Promise.all(ports.map(startEngine));
    assert.ok(first && second);
    try {
      await withGateway(scene, configOf(ports), async ({ post }) => {
        await page.getByRole('link', { name: 'Models & engines' }).click();
        const pool = page.getByRole('region', { name: 'pool', exact: true });
        const rows = pool.getByRole('table', { name: 'Replicas of pool' }).locator('tbody tr');
        await pool.getByText('ok', { exact: true }).waitFor();
        assert.equal(await rows.count(), 2);
        assert.equal(await rows.getByText('closed', { exact: true }).count(), 2);

        await rows.first().getByRole('button', { name: 'Drain pool/0' }).click();
        await rows.first().getByText('drained', { exact: true }).waitFor();
        await pool.getByText('was drained by an operator and gets no calls').waitFor();
        await checkAccessibility(page);
        await rows.nth(1).getByRole('button', { name: 'Drain pool/1' }).click();
        const confirm = page.getByRole('dialog', { name: 'Drain the last replica?' });
        await confirm.getByRole('button', { name: 'Keep it' }).click();
        await rows.first().getByRole('button', { name: 'Undrain pool/0' }).click();
        await rows.first().getByText('drained', { exact: true }).waitFor({ state: 'detached' });

        await killEngine(first as NonNullable<typeof first>);
        const open = rows.first().locator('.badge.bad', { hasText: 'open' });
        await open.waitFor();
        await pool.getByText('ok', { exact: true }).waitFor();
        await killEngine(second as NonNullable<typeof second>);
        await pool.locator('.badge.bad', { hasText: 'down' }).waitFor();
        await pool.getByText('None of its replicas takes calls').waitFor();
        const models = page.getByRole('table', { name: 'Models in service' });
        await models.getByText('None of the replicas of its engine "pool" takes calls').waitFor();
        await checkAccessibility(page);
        await screenshot('console-engines');
        await page.getByRole('link', { name: 'Live', exact: true }).click();
        await page
          .getByRole('table', { name: 'Engines and their replicas' })
          .locator('.badge.bad', { hasText: 'pool/0' })
          .waitFor();

        [first, second] = await Promise.all(ports.map(startEngine));
        const body = { model: 'acme/writer', messages: [{ role: 'user', content: 'Hello' }] };
        await page.getByRole('link', { name: 'Models & engines' }).click();
        await pool.getByText('ok', { exact: true }).waitFor();
        assert.equal((await post('/chat/completions', body)).status, 200);
      });
    } finally {
      for (const engine of [first, second]) if (engine !== undefined) await killEngine(engine);
    }
  },

  'rows in effect are shown as text, and the catalog is read again': async (scene) => {
    const { page, expectError, screenshot } = scene;
    const ports = [await freePort()];
    await withGateway(scene, configOf(ports), async ({ configure }) => {
      await page.getByRole('link', { name: 'Models & engines' }).click();
      await page.getByRole('link', { name: 'Details of pool' }).click();
      await page.getByRole('heading', { name: 'pool', level: 1 }).waitFor();
      const row = page.getByRole('region', { name: 'the row of sluice.yaml', exact: true });
      await row.getByText('"x-team": "(hidden)"').waitFor();
      await row.getByText('"max_cooldown": "500ms"').waitFor();
      await row.getByText('"slow_start": "30s"').waitFor();
      assert.ok(!(await page.content()).includes('secret-of-the-engine'));
      await checkAccessibility(page);
      await screenshot('console-engine');
      await page.getByRole('link', { name: 'acme/writer' }).click();
      await page.getByRole('heading', { name: 'acme/writer', level: 1 }).waitFor();
      await row.getByText('"prompt": "0.000001"').waitFor();
      await page.getByRole('link', { name: 'All models and engines' }).click();
      await page.getByRole('link', { name: 'acme/hostile' }).click();
      await page.getByRole('heading', { name: 'acme/hostile', level: 1 }).waitFor();
      await page.getByText('It has no price: requests cost nothing.').waitFor();
      await row.getByText(markup.slice(0, 20)).waitFor();
      assert.equal(await page.title(), 'Models & engines · Sluice console');
      assert.equal(await page.locator('#app img, #app script').count(), 0);
      await checkAccessibility(page);

      expectError(/the server responded with a status of 409/);
      await page.getByRole('link', { name: 'All models and engines' }).click();
      const reload = page.getByRole('button', { name: 'Reload the catalog' });
      configure(configOf(ports, { 'acme/broken': { engine: 'nowhere', context_length: 1 } }));
      await reload.click();
      await page
        .getByRole('alert')
        .getByText(/^409: The catalog was refused: .*acme\/broken\.engine names no row under engines$/)
        .waitFor();
      await checkAccessibility(page);
      configure(configOf(ports, { 'acme/second': { engine: 'pool', context_length: 4096 } }));
      await reload.click();
      await page.getByText('The catalog was read again: 3 models are in service.').waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      await page.getByRole('link', { name: 'acme/second' }).waitFor();
    });
  },
};

export default scenarios;
