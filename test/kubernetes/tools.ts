/** Where `test/kubernetes/fetch` puts the tools, and which of them are missing. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { servicesFolder } from '../services/child.ts';
import { redisMissing } from '../services/redis.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fetchScript = join(root, 'test/kubernetes/fetch');
const folder = join(servicesFolder, 'kubernetes');
const script = readFileSync(fetchScript, 'utf8');

/** The script pins them. */
const pinned = (name: string): string => {
  const version = new RegExp(`^${name}='?([^'\\n]+)'?$`, 'm').exec(script)?.[1];
  if (version === undefined) throw new Error(`test/kubernetes/fetch has no ${name}`);
  return version;
};

/** Of Kubernetes, oldest first. */
export const releases: readonly string[] = pinned('releases').split(' ');
export const serverVersion = pinned('server_version');
export const helmProgram = join(folder, `helm-${pinned('helm_version')}`);
export const kubeconformProgram = join(folder, `kubeconform-${pinned('kubeconform_version')}`);
export const openApiFile = (release: string): string => join(folder, `openapi-${release}.json`);
export const crdsFolder = join(folder, `crds-${pinned('operator_version')}`);
export const controlPlaneFolder = join(folder, `control-plane-${serverVersion}`);

type Part = 'chart' | 'cluster';

/** Why a part cannot run here; undefined: it can. */
export const missing = (part: Part): string | undefined => {
  const needed =
    part === 'chart'
      ? [helmProgram, kubeconformProgram, crdsFolder, ...releases.map(openApiFile)]
      : [helmProgram, crdsFolder, controlPlaneFolder];
  const absent = needed.filter((path) => !existsSync(path)).map((path) => path.slice(folder.length + 1));
  if (absent.length > 0) return `${absent.join(', ')} (npm run test:kubernetes -- --fetch ${part})`;
  return part === 'cluster' ? sandboxMissing() : undefined;
};

/** Pods get addresses of their own in a network namespace, where nothing but loopback exists. Its processes end with the first. */
export const inNetwork = (
  ...command: readonly string[]
): readonly [program: string, args: readonly string[]] => [
  'unshare',
  [
    ...[
      '--net',
      '--map-root-user',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      'ip link set lo up && ip route add local 10.0.0.0/8 dev lo && exec "$@"',
      'sh',
    ],
    ...command,
  ],
];

const sandboxMissing = (): string | undefined => {
  const [program, args] = inNetwork(
    'bwrap',
    '--unshare-user',
    '--uid',
    '1000',
    '--ro-bind',
    '/',
    '/',
    'true',
  );
  const { status } = spawnSync(program, args, { timeout: 20_000 });
  if (status !== 0)
    return 'unshare --net, ip (iproute2) and bwrap (bubblewrap), with permission to use namespaces';
  return redisMissing({ own: true });
};
