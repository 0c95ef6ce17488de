/** schemathesis: requests generated from the OpenAPI document, and responses checked against it. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Client } from '../client.ts';

const scripts = fileURLToPath(new URL('.', import.meta.url));

export default {
  name: 'schemathesis',
  registry: 'pypi',
  packages: { schemathesis: '4.32.5' },
  // Two minutes on an idle machine. One worker: its generators are not safe across threads.
  seconds: 500,
  async run(site) {
    await site.check('fuzzed requests, and every response as documented', async () => {
      const { code, stdout, stderr } = await site.runBlock('run', {
        env: { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: scripts, NO_COLOR: '1' },
        seconds: 480,
        allowFailure: true,
      });
      // Its warnings, which follow, are longer than its findings.
      const findings = /^=+ (?:ERRORS|FAILURES) =+$[\s\S]*?(?=^=+ WARNINGS)/m.exec(stdout)?.[0];
      assert.equal(code, 0, (findings ?? stdout + stderr).slice(0, 20_000));
      const [, operations = '0'] = /^ *Tested: (\d+)$/m.exec(stdout) ?? [];
      assert.ok(Number(operations) >= 60, stdout.slice(-3000));
    });
  },
} satisfies Client;
