/** Tests that an idle process collects its garbage as V8 does under load, which keeps its optimized code. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const isSource = import.meta.url.endsWith('.ts');
const program = fileURLToPath(new URL(isSource ? './idle-process.ts' : './idle-process.js', import.meta.url));

t.test('garbage goes, in small steps, without the memory reducer', async (t) => {
  const flags = ['--no-memory-reducer', '--trace-gc', ...(isSource ? ['--import', 'tsx'] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program], { timeout: 60_000 });
  const [collection, ...others] = stdout
    .slice(stdout.indexOf('idle\n'))
    .split('\n')
    .filter((line) => line.includes('Mark-Compact'));
  t.match(collection, /Mark-Compact \d/, 'not one that reduces memory');
  t.match(collection, /in \d+ steps/, 'incremental');
  t.strictSame(others, [], 'one is enough');
});
