/** Tests that `npm run test:long` names every file with tests that take long. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

t.test('the command names every file with tests that take long', async (t) => {
  const files = readdirSync('test', { recursive: true })
    .map((name) => `test/${String(name)}`)
    .filter(
      (file) => file.endsWith('.test.ts') && /^import .*\blong\.ts';$/m.test(readFileSync(file, 'utf8')),
    )
    .sort();
  const named = (scripts['test:long'] ?? '').split(' ').filter((word) => word.endsWith('.test.ts'));
  t.ok(files.length > 0);
  t.strictSame(named, files);
});
