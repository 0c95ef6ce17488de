/** Tests what a release rests on: one version everywhere, a changelog in form, and the contents of the package. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { version as versionOfCommand } from '../../src/cli/version.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { problemsOf, release, sectionsOf } from './changelog.ts';
import { contentProblems, pack } from './contents.ts';
import { isNewer, isVersion, readVersions } from './versions.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

t.test('one version everywhere', async (t) => {
  t.ok(isVersion(version));
  for (const place of readVersions()) t.equal(place.version, version, place.file);
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const versionAt = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    const body = (await (await fetch(gateway.url + path, { headers })).json()) as {
      readonly version?: string;
      readonly info?: { readonly version: string };
    };
    return body.info?.version ?? body.version;
  };
  t.equal(await versionAt('/health'), version);
  t.equal(await versionAt('/openapi.json'), version);
  t.equal(versionOfCommand(), version, '--version');
});

t.test('the changelog is in form, and a release moves what is unreleased', async (t) => {
  const text = readFileSync('CHANGELOG.md', 'utf8');
  t.strictSame(problemsOf(text), []);
  const before =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A route.\n\n## [1.0.0] - 2026-01-02\n\n### Fixed\n\n- It.\n';
  const after = release(before, '1.1.0', '2026-11-17');
  t.strictSame(
    sectionsOf(after).map(({ name, date, body }) => [name, date, body]),
    [
      ['Unreleased', undefined, ''],
      ['1.1.0', '2026-11-17', '### Added\n\n- A route.'],
      ['1.0.0', '2026-01-02', '### Fixed\n\n- It.'],
    ],
  );
  t.strictSame(problemsOf(after), []);
  t.throws(() => release(after, '1.2.0', '2026-11-18'), /\[Unreleased\] has no entry/);
  t.strictSame(problemsOf(before.replace('### Fixed', '### Repaired')), [
    '[1.0.0] has "### Repaired", not one of Added, Changed, Deprecated, Removed, Fixed, Security',
  ]);
  t.strictSame(problemsOf(before.replace('[1.0.0] - 2026-01-02', '1.0.0')), [
    '"## 1.0.0" is not "## [version] - date"',
  ]);
});

t.test('versions are compared by their numbers', async (t) => {
  t.ok(isNewer('1.10.0', '1.9.9'));
  t.ok(isNewer('2.0.0', '1.99.0'));
  t.notOk(isNewer('1.4.0', '1.4.0'));
  t.notOk(isNewer('1.3.9', '1.4.0'));
  for (const text of ['1.4', 'v1.4.0', '1.4.0.1', '']) t.notOk(isVersion(text), text);
});

t.test('the package has what a gateway needs and nothing else', { skip: onlyLong }, async (t) => {
  const packed = pack('--dry-run', '--ignore-scripts');
  t.strictSame(contentProblems(packed), []);
  const file = (path: string) => ({ path, size: 1 });
  const changed = {
    ...packed,
    files: [...packed.files.slice(1), file('.env'), file('src/main.ts')],
    size: 9e6,
  };
  t.strictSame(contentProblems(changed).slice(0, 2), [
    '.env should not be in the package',
    'src/main.ts should not be in the package',
  ]);
  t.match(contentProblems(changed).at(-1), /^the package has 9000000 bytes, more than/);
});
