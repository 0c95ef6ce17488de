/** Removes packages and binaries that this machine's Node does not load, after `npm ci --omit=dev`. */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const library = dirname(createRequire(import.meta.url).resolve('uWebSockets.js/package.json'));
const packages = dirname(library);
const own = join(root, 'node_modules');
/** Otherwise the folder is that of a project which depends on this one, and so are its packages. */
const isOurs = existsSync(own) && realpathSync(own) === packages;

// The tests check the builds of every platform. A linked folder may belong to a working copy elsewhere.
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const isForTests = Object.keys(devDependencies).some(
  (name) => name !== 'typescript' && existsSync(join(packages, name)),
);
if (isOurs && (isForTests || lstatSync(own).isSymbolicLink())) {
  console.error('This is not an installation for production. First: npm ci --omit=dev');
  process.exit(1);
}

const sizeOf = (path) => {
  const stat = lstatSync(path);
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : stat.size;
};

const removed = [];
const remove = (path, why) => {
  if (!existsSync(path)) return;
  removed.push({ path, why, bytes: sizeOf(path) });
  rmSync(path, { recursive: true });
};

const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
for (const name of readdirSync(library))
  if (name.endsWith('.node') && name !== binary) remove(join(library, name), 'of another platform or Node');

const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
for (const scope of isOurs && isGlibc ? ['@libsql', '@img'] : [])
  for (const name of existsSync(join(packages, scope)) ? readdirSync(join(packages, scope)) : [])
    if (name.includes('musl')) remove(join(packages, scope, name), 'of another C library');

if (isOurs)
  for (const name of ['typescript', '@typescript', '@napi-rs', '.bin/tsc'])
    remove(join(packages, name), 'a peer that is not used at run time');

const total = removed.reduce((sum, { bytes }) => sum + bytes, 0);
console.log(`removed ${removed.length} files and folders, ${Math.round(total / 1e6)} MB`);
if (!existsSync(join(library, binary)))
  console.log(`uWebSockets.js has no ${binary}: the gateway will serve with node:http`);
