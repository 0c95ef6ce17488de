/** Checks that dependencies are pinned, hashed, licensed, documented and available for every named platform. */
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { documentOf, readManifest, reasons } from './document.ts';
import { isAllowed, licenceOf } from './licences.ts';
import { isRuntime, readPackages } from './lock.ts';

const packages = readPackages();
const manifest = readManifest();
const all = [...packages.values()];
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'] as const;

t.test('every version is exact, and has a reason', async (t) => {
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  const loose = Object.entries(wanted).filter(
    ([, version]) => !/^(?:npm:(?:@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(?:-alpha\.\d+)?$/.test(version),
  );
  t.strictSame(loose, []);
  t.strictSame(Object.keys(reasons).sort(), Object.keys(manifest.dependencies).sort());
});

t.test('every package has a hash, and none is tied to a host', async (t) => {
  t.ok(all.length > 100);
  t.strictSame(
    all.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')),
    [],
  );
  t.strictSame(
    all.filter(({ resolved }) => resolved !== undefined),
    [],
  );
});

t.test('every licence is allowed', async (t) => {
  const odd = all
    .filter((one) => !isAllowed(one.name, licenceOf(one)))
    .map((one) => `${one.place}: ${licenceOf(one)}`);
  t.strictSame(odd, []);
  t.notOk(isAllowed('left', 'unknown'));
  t.notOk(isAllowed('left', 'GPL-3.0'), 'for those that are named only');
  t.notOk(isAllowed('left', 'MIT AND GPL-3.0'));
  t.ok(isAllowed('left', '(GPL-3.0 OR MIT)'));
});

t.test('no runtime package has an install script', async (t) => {
  const scripts = all.filter((one) => isRuntime(one) && one.hasInstallScript === true);
  t.strictSame(scripts, []);
});

/** Linux with glibc. */
const gnu = (platform: string): string => (platform.startsWith('linux') ? `${platform}-gnu` : platform);

t.test('every binary exists for every platform', async (t) => {
  const families: Readonly<Record<string, (platform: string) => readonly string[]>> = {
    sharp: (platform) => [`@img/sharp-${platform}`, `@img/sharp-libvips-${platform}`],
    libsql: (platform) => [`@libsql/${gnu(platform)}`],
    crc32: (platform) => [`@node-rs/crc32-${gnu(platform)}`],
  };
  for (const [family, namesOn] of Object.entries(families))
    for (const platform of platforms)
      for (const name of namesOn(platform)) {
        const [os, cpu] = platform.split('-');
        t.match(packages.get(`node_modules/${name}`), { os: [os], cpu: [cpu] }, `${family}: ${name}`);
      }
  // Numbers of Node's binary interface: 20, 22, 24.
  for (const platform of platforms)
    for (const abi of [115, 127, 137]) {
      const file = `node_modules/uWebSockets.js/uws_${platform.replace('-', '_')}_${abi}.node`;
      t.ok(existsSync(file), file);
    }
});

t.test('docs/dependencies.md is the output of `npm run licences`', async (t) => {
  t.equal(readFileSync('docs/dependencies.md', 'utf8'), documentOf(packages, manifest));
});
