/** Models whose names and descriptions are markup: they are shown as text. */
import assert from 'node:assert/strict';
import { startBuiltGateway } from '../../clients/gateway.ts';
import type { Scenarios } from '../scene.ts';

const name = `<img src=x onerror="document.title='run'">`;
const description = `</script><script>document.title='run'</script><svg onload="document.title='run'">`;
const config = JSON.stringify({
  models: { 'acme/hostile': { engine: 'simulator', context_length: 4096, name, description } },
});

const scenarios: Scenarios = {
  'markup in a catalog stays text': async ({ page, allowOrigin }) => {
    const gateway = await startBuiltGateway({ config });
    try {
      allowOrigin(gateway.origin);
      await page.goto(`${gateway.origin}/#/models`);
      await page.getByText(description).waitFor();
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByText('acme/hostile', { exact: true }).waitFor();
      assert.equal(await page.title(), 'Models · Sluice');
      assert.equal(await page.locator('img, #app script').count(), 0);
    } finally {
      await gateway.stop();
    }
  },
};

export default scenarios;
