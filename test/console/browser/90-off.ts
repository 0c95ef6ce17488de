/** Without the pages: what a browser gets from a gateway with `SLUICE_CONSOLE=off`. */
import assert from 'node:assert/strict';
import { startBuiltGateway } from '../../clients/gateway.ts';
import type { Scenarios } from '../scene.ts';

const scenarios: Scenarios = {
  'SLUICE_CONSOLE=off leaves the JSON 404': async ({ page, allowOrigin, expectError }) => {
    const gateway = await startBuiltGateway({ env: { SLUICE_CONSOLE: 'off' } });
    try {
      allowOrigin(gateway.origin);
      expectError(/the server responded with a status of 404/);
      const response = await page.goto(gateway.origin);
      assert.equal(response?.status(), 404);
      assert.match((await response?.text()) ?? '', /"message":"No route for GET \/"/);
    } finally {
      // It may still ask for the site's icon.
      await page.close();
      await gateway.stop();
    }
  },
};

export default scenarios;
