/** Tests that `npm test` runs every suite, and only those that there are. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { patiently } from '../eventually.ts';

t.test('every suite is in a folder beside the others', async (t) => {
  const suites = readdirSync('test', { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.test.ts'));
  t.ok(suites.length > 200, `${suites.length} suites`);
  t.strictSame(
    suites.filter((name) => !/^[a-z0-9-]+$/.test(dirname(name))),
    [],
  );
});

t.test('a name that is no suite is refused', async (t) => {
  for (const name of ['test/no-such-folder', 'test/fixtures', 'test/chat/no-such.test.ts']) {
    const { code, out, err } = await run(name);
    t.strictSame([code, out, err], [2, '', `npm test: no such suite: ${name}; --help lists the options\n`]);
  }
});

const run = (name: string): Promise<{ code: unknown; out: string; err: string }> =>
  new Promise((resolve) => {
    const limit = { timeout: patiently(60_000) };
    execFile(process.execPath, ['build/test/run.js', name], limit, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
