/** Builds the command that runs ffmpeg confined: no network, no files but those of its run, and limits. */
import { accessSync, constants, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { seccompFilter } from './seccomp-filter.ts';

export interface Command {
  readonly file: string;
  readonly arguments: readonly string[];
  /** Path of the filter that it reads from descriptor 3; it writes the id of the process that it starts to 4. */
  readonly monitor?: string;
}

/** What one run may use. */
export interface RunLimits {
  /** The one file that it may read, … */
  readonly input: string | undefined;
  /** … and the one that it may write; the folder is its own. */
  readonly output: string | undefined;
  /** File with the system calls that fail. */
  readonly filter: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** In order of preference; `none` has limits of resources only. */
export const sandboxes = ['bubblewrap', 'landlock', 'none'] as const;
export type Sandbox = (typeof sandboxes)[number];

const bwrap = '/usr/bin/bwrap';
const setpriv = '/usr/bin/setpriv';
const prlimit = '/usr/bin/prlimit';

/** Builds the command of a run. */
export type CommandBuilder = (words: readonly string[], limits: RunLimits) => Command;

/** Undefined where this system has not what it takes; whether it is allowed is seen when it runs. */
export const confinement = (
  sandbox: Sandbox,
  ffmpeg: string,
  memoryMegabytes: number,
): CommandBuilder | undefined => {
  const limit = resourceLimits(memoryMegabytes, 'as', sandbox === 'bubblewrap');
  const program: CommandBuilder = (words, limits) => toCommand([...limit(limits), ffmpeg, ...words]);
  if (sandbox === 'none') return program;
  if (process.platform !== 'linux') return undefined;
  const [file, prefix, filesOf] =
    sandbox === 'bubblewrap'
      ? ([bwrap, namespaces(ffmpeg), mounts] as const)
      : ([setpriv, landlock(ffmpeg), rules] as const);
  if (!isExecutable(file) || (sandbox === 'landlock' && !hasFilter)) return undefined;
  return (words, limits) => {
    const inner = program(words, limits);
    return {
      file,
      arguments: [...prefix, ...filesOf(limits), '--', inner.file, ...inner.arguments],
      ...(sandbox === 'bubblewrap' && { monitor: limits.filter }),
    };
  };
};

export const toCommand = (words: readonly string[]): Command => {
  const [file = '', ...rest] = words;
  return { file, arguments: rest };
};

/** Each program of the chain replaces itself by the next. */
export const resourceLimits = (
  memoryMegabytes: number,
  /** `as` counts addresses, `data` only what can be written to. */
  memory: 'as' | 'data',
  countsProcesses = false,
): ((limits: RunLimits) => readonly string[]) => {
  // Other systems have ffmpeg's own limit of an allocation, and the clock.
  if (process.platform !== 'linux' || !isExecutable(prlimit)) return () => [];
  const fixed = [
    ...[prlimit, `--${memory}=${memoryMegabytes * mebibyte}`, '--core=0', '--nofile=256'],
    // Counted over all processes of a user: sensible only where it is one of its own.
    ...(countsProcesses ? ['--nproc=128'] : []),
  ];
  return ({ maxBytes, timeoutMs }) => [
    ...fixed,
    // The clock of the run is earlier, unless nobody is left to watch it.
    `--cpu=${Math.ceil(timeoutMs / 1000) + 5}`,
    `--fsize=${maxBytes + mebibyte}`,
  ];
};

const mebibyte = 1024 * 1024;

/** Whether the numbers of system calls are known for this processor. */
const hasFilter = seccompFilter() !== undefined;

// ── bubblewrap: namespaces, with a seccomp filter ─────────────────────────────────────────────

/** No session of its own: it would leave the process group that is killed. */
const namespaces = (ffmpeg: string): readonly string[] => [
  ...['--unshare-all', '--unshare-user', '--die-with-parent', '--as-pid-1', '--info-fd', '4'],
  ...(hasFilter ? ['--seccomp', '3'] : []),
  ...['--cap-drop', 'ALL', '--chdir', '/', '--hostname', 'codec', '--dev', '/dev'],
  ...programFolders(ffmpeg).flatMap(bound),
  ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
];

/** Where the program and its libraries are. */
const programFolders = (ffmpeg: string): readonly string[] => {
  const usual = ['/usr', '/bin', '/lib', '/lib64', '/nix/store', '/gnu/store'].filter(exists);
  const folder = dirname(ffmpeg);
  return usual.some((one) => ffmpeg.startsWith(`${one}/`)) ? usual : [...usual, folder];
};

const bound = (folder: string): readonly string[] =>
  lstatSync(folder).isSymbolicLink()
    ? ['--symlink', readlinkSync(folder), folder]
    : ['--ro-bind', folder, folder];

/** The root is memory: it is made read-only, or a run could fill it. */
const mounts = ({ input, output }: RunLimits): readonly string[] => [
  ...(output === undefined ? [] : ['--bind', dirname(output), dirname(output)]),
  ...(input === undefined ? [] : ['--ro-bind', input, input]),
  ...['--remount-ro', '/'],
];

// ── landlock: rules for files, with a seccomp filter ──────────────────────────────────────────

const landlock = (ffmpeg: string): readonly string[] => [
  ...['--no-new-privs', '--inh-caps=-all', '--pdeathsig', 'KILL', '--landlock-access', 'fs'],
  ...[...programFolders(ffmpeg), '/etc/ld.so.cache', '/etc/alternatives']
    .filter(exists)
    .flatMap((path) => rule(isFolder(path) ? 'execute,read-file,read-dir' : 'read-file', path)),
  ...['/dev/null', '/dev/urandom'].filter(exists).flatMap((path) => rule('read-file,write-file', path)),
];

const rules = ({ input, output, filter }: RunLimits): readonly string[] => [
  ...['--seccomp-filter', filter],
  ...(output === undefined ? [] : rule('read-file,write-file,make-reg,truncate', dirname(output))),
  ...(input === undefined ? [] : rule('read-file', input)),
];

const rule = (rights: string, path: string): readonly string[] => [
  '--landlock-rule',
  `path-beneath:${rights}:${path}`,
];

const isFolder = (path: string): boolean => lstatSync(path).isDirectory() || lstatSync(path).isSymbolicLink();

const exists = (path: string): boolean => isAllowed(path, constants.F_OK);
const isExecutable = (path: string): boolean => isAllowed(path, constants.X_OK);

const isAllowed = (path: string, right: number): boolean => {
  try {
    accessSync(path, right);
    return true;
  } catch {
    return false;
  }
};
