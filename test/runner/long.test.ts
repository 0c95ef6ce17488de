/** Tests that `npm run test:long` runs every file with tests that take long. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesThatTakeLong, longSuites } from '../long-suites.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

t.test('the command runs every file with tests that take long', async (t) => {
  t.equal(scripts['test:long'], 'SLUICE_TEST_LONG=1 node build/test/run.js --long');
  const suites = longSuites();
  t.ok(suites.length > 40, `${suites.length} files`);
  t.ok(suites.includes('test/processes/watchdog.test.ts'));
  t.strictSame(filesThatTakeLong(), suites, 'no shared file imports it: its suites would not be found');
});
