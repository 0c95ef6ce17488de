/** Tests that `bin/prune-builds.mjs` leaves what this machine loads, and touches no working copy. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

const root = fileURLToPath(new URL('../..', import.meta.url));
const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const others = ['uws_darwin_arm64_137.node', 'uws_linux_x64_1.node', 'uws_win32_x64_1.node'];

/** An installation in small, with these packages beside the library. */
const install = (t: Test, packages: object = {}): string =>
  t.testdir({
    'package.json': readFileSync(join(root, 'package.json'), 'utf8'),
    // Its text: a link would lead to the packages of this working copy.
    bin: { 'prune-builds.mjs': readFileSync(join(root, 'bin/prune-builds.mjs'), 'utf8') },
    node_modules: {
      'uWebSockets.js': {
        'package.json': '{"main":"uws.js"}',
        'uws.js': '',
        ...Object.fromEntries([binary, ...others].map((name) => [name, 'binary'])),
      },
      ...packages,
    },
  });

const run = (folder: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/prune-builds.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
};

const left = (folder: string) => readdirSync(join(folder, 'node_modules/uWebSockets.js')).sort();

t.test('an installation for production', async (t) => {
  const folder = install(t, {
    typescript: { 'index.js': '' },
    '@napi-rs': { canvas: { 'index.js': '' } },
    '@libsql': { 'linux-x64-gnu': { 'index.node': '' }, 'linux-x64-musl': { 'index.node': '' } },
    rxjs: { 'index.js': '' },
  });
  t.match(run(folder), { status: 0, stdout: /^removed \d+ files and folders, 0 MB\n$/ });
  t.strictSame(left(folder), ['package.json', 'uws.js', binary].sort());
  const packages = readdirSync(join(folder, 'node_modules'));
  t.strictSame(packages.sort(), ['@libsql', 'rxjs', 'uWebSockets.js']);
  t.ok(existsSync(join(folder, 'node_modules/@libsql/linux-x64-gnu')));
  t.match(run(folder), { status: 0, stdout: 'removed 0 files and folders, 0 MB\n' });
});

t.test('a working copy is left alone', async (t) => {
  const folder = install(t, { tap: { 'index.js': '' } });
  t.match(run(folder), { status: 1, stderr: /not an installation for production/ });
  t.equal(left(folder).length, others.length + 3);
});

t.test('so is one whose packages are those of another', async (t) => {
  const folder = install(t);
  renameSync(join(folder, 'node_modules'), join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'node_modules'));
  t.match(run(folder), { status: 1, stderr: /not an installation for production/ });
  t.equal(left(folder).length, others.length + 3);
});

t.test('a machine without a build of the library', async (t) => {
  const folder = install(t);
  renameSync(
    join(folder, 'node_modules/uWebSockets.js', binary),
    join(folder, 'node_modules/uWebSockets.js/uws_plan9_x64_1.node'),
  );
  t.match(run(folder), { status: 0, stdout: /the gateway will serve with node:http/ });
});
