/** What the npm package may contain: nothing that an installed gateway does not use. */
import { execFileSync } from 'node:child_process';

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly PackedFile[];
}

const allowed: readonly RegExp[] = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|sluice\.example\.yaml)$/,
  /^bin\/(sluice|build-if-stale|prune-builds)\.mjs$/,
  /^dist\/(bundle|src|pipelines|schemas)\/.+\.js(\.map)?$/,
  /^dist\/src\/.+\.lua$/,
  /^dist\/src\/offload\/cmaps\/.+$/,
  /^dist\/console\/[^.].*$/,
];
const required = ['package.json', 'LICENSE', 'README.md', 'bin/sluice.mjs', 'dist/bundle/main.js'];
/** About a third more than there is: what grows beyond them should be looked at. */
const [mostPacked, mostUnpacked] = [8_000_000, 32_000_000];

export const pack = (...options: readonly string[]): Packed => {
  const text = execFileSync('npm', ['pack', '--json', ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [packed] = JSON.parse(text.slice(text.indexOf('['))) as Packed[];
  if (packed === undefined) throw new Error('npm pack packed nothing');
  return packed;
};

export const contentProblems = ({ size, unpackedSize, files }: Packed): readonly string[] => {
  const paths = files.map(({ path }) => path);
  const tooMany = paths.filter((path) => !allowed.some((pattern) => pattern.test(path)));
  const missing = required.filter((path) => !paths.includes(path));
  return [
    ...tooMany.slice(0, 10).map((path) => `${path} should not be in the package`),
    ...missing.map((path) => `${path} is not in the package`),
    ...(size > mostPacked ? [`the package has ${size} bytes, more than ${mostPacked}`] : []),
    ...(unpackedSize > mostUnpacked
      ? [`unpacked it has ${unpackedSize} bytes, more than ${mostUnpacked}`]
      : []),
  ];
};
