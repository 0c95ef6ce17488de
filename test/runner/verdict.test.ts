/** Tests that only a test process that ran to its end without failures has passed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { patiently } from '../eventually.ts';
import { judge } from '../verdict.ts';

const passing = `TAP version 14
# Subtest: chat
    # Subtest: a stream
        ok 1 - begins
        ok 2 - not today # SKIP no engine
        1..2
    ok 1 - a stream # time=1ms
    1..1
ok 1 - chat # time=2ms

1..1
`;

t.test('all tests passed', async (t) => {
  t.strictSame(judge(passing, 0), { passed: 3, skipped: 1, complaints: [] });
});

t.test('expected failures are left out', async (t) => {
  t.strictSame(judge('not ok 1 - one day # TODO\nok 2 - now\n1..2\n', 0), {
    passed: 1,
    skipped: 1,
    complaints: [],
  });
});

t.test('a failure is reported with its reasons, without passed tests', async (t) => {
  const output = passing
    .replace('ok 1 - begins', 'not ok 1 - begins\n          ---\n          found: 2\n          ...')
    .replace('ok 1 - a stream', 'not ok 1 - a stream')
    .replace('ok 1 - chat', 'not ok 1 - chat');
  t.strictSame(judge(output, 1).complaints, [
    '        not ok 1 - begins',
    '          ---',
    '          found: 2',
    '          ...',
    '    not ok 1 - a stream # time=1ms',
    '    1..1',
    'not ok 1 - chat # time=2ms',
    '1..1',
    'ended with 1',
  ]);
  t.not(judge(output, 0).complaints.length, 0, 'whatever its exit code');
});

t.test('a process that did not finish has not passed', async (t) => {
  const end = (output: string, ending: number | string) => judge(output, ending).complaints.at(-1);
  t.equal(end('', 0), 'ended before it was through');
  t.equal(end(passing.replace('\n1..1\n', '\n'), 0), 'ended before it was through');
  t.equal(end(passing.replace('\n1..1\n', '\n1..2\n'), 0), '2 tests were announced, 1 were run');
  t.equal(end(passing, 'SIGKILL'), 'ended with SIGKILL');
  t.equal(end(passing, 1), 'ended with 1');
});

t.test('a real process', async (t) => {
  const output = (source: string): { text: string; code: number } => {
    const file = join(t.testdir(), 'suite.mjs');
    writeFileSync(
      file,
      `import t from ${JSON.stringify(pathToFileURL(join(process.cwd(), 'node_modules/tap/dist/esm/index.js')))};\n${source}`,
    );
    try {
      return {
        text: execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: patiently(20_000) }),
        code: 0,
      };
    } catch (error) {
      const { stdout, status } = error as { stdout: string; status: number };
      return { text: stdout, code: status };
    }
  };
  const good = output(`t.test('sum', async (t) => t.equal(1 + 1, 2));`);
  t.strictSame(judge(good.text, good.code), { passed: 2, skipped: 0, complaints: [] });
  const bad = output(
    `t.test('sum', async (t) => t.equal(1 + 1, 3)); t.test('other', async (t) => t.ok(true));`,
  );
  const { passed, complaints } = judge(bad.text, bad.code);
  t.equal(passed, 2);
  t.match(
    complaints.join('\n'),
    /not ok 1 - should be equal[\s\S]*\+2[\s\S]*not ok 1 - sum[\s\S]*ended with 1/,
  );
  const left = output(
    `t.test('sum', async (t) => { t.ok(true); process.exit(0); }); t.test('other', async () => {});`,
  );
  t.not(judge(left.text, left.code).complaints.length, 0);
});
