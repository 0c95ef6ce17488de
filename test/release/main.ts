/**
 * `npm run release`: checks what a release needs and makes its files in `release/`.
 * Without options it changes nothing in the repository; `--apply` writes the version and tags it, `--publish` publishes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { orEnd, readCommandLine } from '../command-line.ts';
import { problemsOf, release, sectionsOf } from './changelog.ts';
import { contentProblems, pack } from './contents.ts';
import { versionOfInstalled } from './install.ts';
import { isNewer, isVersion, readVersions, writeVersions } from './versions.ts';

const { values, operands } = readCommandLine({
  command: 'npm run release',
  summary:
    'Checks tree, changelog and versions, packs, writes an SBOM and checksums into release/, and starts the installed package. A dry run unless told otherwise.',
  operands: '[VERSION]',
  options: {
    apply: { help: 'write the version and the changelog, commit and tag' },
    publish: { help: 'publish the tarball to npm afterwards; needs --apply' },
    'skip-install': { help: 'do not install and start the tarball (it needs the registry)' },
  },
});

const folder = 'release';
const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
const current = readVersions()[0]?.version ?? '';
const version = operands[0] ?? current;
orEnd('npm run release', () => {
  if (operands.length > 1) throw new Error(`takes one version, not ${operands.join(' ')}`);
  if (!isVersion(version)) throw new Error(`"${version}" is not a semantic version`);
  if (values.publish && !values.apply) throw new Error('--publish needs --apply');
});

let failures = 0;
const check = (name: string, problems: readonly string[]): void => {
  process.stdout.write(`${problems.length === 0 ? 'ok    ' : 'not ok'} ${name}\n`);
  for (const problem of problems) process.stdout.write(`       ${problem}\n`);
  failures += problems.length === 0 ? 0 : 1;
};
const stopIfFailed = (): void => {
  if (failures === 0) return;
  process.stdout.write(`${failures} checks failed; nothing was changed\n`);
  process.exit(1);
};

const changelog = readFileSync('CHANGELOG.md', 'utf8');
const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean);
const newest = tags.map((tag) => tag.slice(1)).filter(isVersion);
const dirty = git('status', '--porcelain').split('\n').filter(Boolean);
const versions = readVersions();
check('the working tree is clean', dirty.slice(0, 5));
check(
  `v${version} is newer than every tag`,
  newest.filter((tag) => !isNewer(version, tag)).map((tag) => `v${tag} exists`),
);
check(
  `every file has version ${current}`,
  versions.filter((place) => place.version !== current).map((place) => `${place.file}: ${place.version}`),
);
check('CHANGELOG.md follows Keep a Changelog', problemsOf(changelog));
check(
  '[Unreleased] has entries',
  sectionsOf(changelog)[0]?.body.includes('\n- ') ? [] : ['CHANGELOG.md: nothing to release'],
);

if (values.apply) {
  stopIfFailed();
  writeVersions(version);
  writeFileSync('CHANGELOG.md', release(changelog, version, new Date().toISOString().slice(0, 10)));
  git('commit', '--all', '--message', `Release ${version}`);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const packed = pack('--pack-destination', folder);
const tarball = join(folder, packed.filename);
check(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes`, contentProblems(packed));

const sbom = join(folder, packed.filename.replace(/\.tgz$/, '.cdx.json'));
const inventory = execFileSync(
  'npm',
  ['sbom', '--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx'],
  { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
writeFileSync(sbom, inventory);
const components = (JSON.parse(inventory) as { readonly components?: readonly unknown[] }).components ?? [];
check(`${basename(sbom)}: ${components.length} components`, components.length === 0 ? ['no components'] : []);

const checksums = [tarball, sbom].map(
  (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`,
);
writeFileSync(join(folder, 'SHA256SUMS'), checksums.join(''));
check('SHA256SUMS', []);

if (!values['skip-install']) {
  const started = await versionOfInstalled(join(process.cwd(), tarball)).catch((error: Error) => error);
  const expected = values.apply ? version : current;
  const problem = started instanceof Error ? started.message : `it reports ${started}, not ${expected}`;
  check('installed in an empty folder, npx sluice serve starts', started === expected ? [] : [problem]);
}

if (failures > 0) {
  process.stdout.write(
    `${failures} checks failed${values.apply ? '; the release commit is not tagged' : ''}\n`,
  );
  process.exit(1);
}
if (!values.apply)
  process.stdout.write(`dry run: npm run release -- ${version} --apply commits and tags v${version}\n`);
else {
  git('tag', '--annotate', `v${version}`, '--message', `Sluice ${version}`);
  const image = `docker build --build-arg REVISION=${git('rev-parse', 'HEAD')} --tag sluice:${version} .`;
  process.stdout.write(`tagged v${version}. Next: git push --follow-tags, and ${image}\n`);
  if (values.publish) execFileSync('npm', ['publish', tarball], { stdio: 'inherit' });
  else process.stdout.write(`not published: npm publish ${tarball}\n`);
}
