/** Compiles the TypeScript sources when one of them is newer than the last build. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist/.tsbuildinfo');

const newerThan = (time) => (folder) =>
  readdirSync(join(root, folder), { recursive: true }).some(
    (file) =>
      /\.(tsx?|lua|css|html|svg|txt)$/.test(file) && statSync(join(root, folder, file)).mtimeMs > time,
  );

// An installed package has only dist, no sources.
if (existsSync(join(root, 'src'))) {
  const built = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  if (['src', 'pipelines', 'schemas'].some(newerThan(built))) {
    console.error('sluice: compiling …');
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(1);
    utimesSync(stamp, new Date(), new Date());
  }
}
