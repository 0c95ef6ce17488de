/** Finds the ffmpeg that reads clients' files: the system's where it can be confined, else one in WebAssembly. */
import { access, chmod, constants, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { environment, text } from '../environment.ts';
import { fail } from '../errors.ts';
import { spawnGroup } from './process-group.ts';
import {
  type Command,
  type CommandBuilder,
  confinement,
  type RunLimits,
  resourceLimits,
  type Sandbox,
  sandboxes,
  toCommand,
} from './sandbox.ts';
import { seccompFilter } from './seccomp-filter.ts';

export interface CodecInfo {
  readonly version: string;
  /** `configured`: by SLUICE_FFMPEG; `system`: found on the PATH; `packaged`: WebAssembly, with the packages. */
  readonly provider: 'configured' | 'system' | 'packaged';
  readonly sandbox: Sandbox | 'wasm';
  /** Why a better one is not used; for the log. */
  readonly notes: readonly string[];
}

export interface Provider extends CodecInfo {
  /** The command that runs ffmpeg with these words, and with access to these files alone. */
  readonly command: CommandBuilder;
}

export interface ProviderOptions {
  /** Path of ffmpeg, or `packaged`; undefined: chosen. */
  readonly ffmpeg?: string | undefined;
  readonly memoryMegabytes?: number;
}

/** The oldest branch that a distribution maintains: Debian 12 has it. */
const oldest = [5, 1] as const;
const encoders = ['libx264', 'libmp3lame', 'libopus', 'aac', 'flac'] as const;
const defaultMegabytes = 2048;
const checkTimeoutMs = 30_000;
const maxPrinted = 1024 * 1024;

const found = new Map<string, Promise<Provider>>();

/** Looks once; what is missing now may be installed later. */
export const findProvider = (options: ProviderOptions = {}): Promise<Provider> => {
  const env = environment();
  const ffmpeg = options.ffmpeg ?? text(env, 'SLUICE_FFMPEG');
  const memoryMegabytes = options.memoryMegabytes ?? defaultMegabytes;
  const key = JSON.stringify([ffmpeg, memoryMegabytes, env.PATH]);
  const known = found.get(key) ?? look(ffmpeg, env.PATH ?? '', memoryMegabytes);
  found.set(key, known);
  known.catch(() => found.delete(key));
  return known;
};

const look = async (ffmpeg: string | undefined, path: string, memoryMegabytes: number): Promise<Provider> => {
  if (ffmpeg === 'packaged') return packaged(memoryMegabytes, []);
  if (ffmpeg !== undefined) return configured(ffmpeg, memoryMegabytes);
  const file = await onPath('ffmpeg', path);
  if (file === undefined) return packaged(memoryMegabytes, ['no ffmpeg on the PATH']);
  const confining = sandboxes.filter((one) => one !== 'none');
  const { usable, notes } = await firstThatRuns(file, confining, memoryMegabytes);
  if (usable === undefined) return packaged(memoryMegabytes, [`${file} cannot be confined`, ...notes]);
  const { unfit, ...rest } = usable;
  if (unfit !== undefined) return packaged(memoryMegabytes, [`${file}: ${unfit}`]);
  return { ...rest, provider: 'system', notes };
};

/** It is used though it may lack something, as far confined as the system allows. */
const configured = async (path: string, memoryMegabytes: number): Promise<Provider> => {
  await makeExecutable(path);
  const { usable, notes } = await firstThatRuns(await realpath(path), sandboxes, memoryMegabytes);
  if (usable === undefined) throw missing(`${path} does not run: ${notes.join('; ')}`, undefined);
  const { unfit, ...rest } = usable;
  // What it prints could not be read.
  if (isOld(rest.version)) throw missing(`${path}: ${unfit}`, undefined);
  return { ...rest, provider: 'configured', notes: unfit === undefined ? notes : [...notes, unfit] };
};

type Usable = Pick<Provider, 'version' | 'sandbox' | 'command'> & { readonly unfit: string | undefined };

/** Tried as it will be used: what prints its version can be confined so. */
const firstThatRuns = async (
  file: string,
  candidates: readonly Sandbox[],
  memoryMegabytes: number,
): Promise<{ readonly usable: Usable | undefined; readonly notes: readonly string[] }> => {
  const notes: string[] = [];
  for (const sandbox of candidates) {
    const command = confinement(sandbox, file, memoryMegabytes);
    if (command === undefined) {
      notes.push(`${sandbox}: not on this system`);
      continue;
    }
    const { stdout, stderr, why } = await tried((limits) => command(['-encoders'], limits));
    const version = versionOf(stderr);
    if (version !== undefined)
      return { usable: { version, sandbox, command, unfit: whyUnfit(version, stdout) }, notes };
    notes.push(`${sandbox}: ${why}`);
  }
  return { usable: undefined, notes };
};

// ── in WebAssembly ─────────────────────────────────────────────────────────────────────────────────

/** TypeScript sources need a loader. */
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(new URL(isSource ? './wasm-process.ts' : './wasm-process.js', import.meta.url));
const flags = [
  // Functions are compiled when they are first called: most never are.
  ...['--wasm-lazy-compilation', '--wasm-lazy-validation', '--max-old-space-size=64'],
  ...(isSource ? ['--import', import.meta.resolve('tsx')] : []),
];

const packaged = async (memoryMegabytes: number, notes: readonly string[]): Promise<Provider> => {
  try {
    import.meta.resolve('@ffmpeg/core/wasm');
  } catch (cause) {
    throw missing([...notes, '@ffmpeg/core is not installed'].join('; '), cause);
  }
  // Its addresses are reserved, not used.
  const limit = resourceLimits(memoryMegabytes, 'data');
  const command: CommandBuilder = (words, limits) => {
    const { input = '', output = '' } = limits;
    return toCommand([...limit(limits), process.execPath, ...flags, script, input, output, ...words]);
  };
  const { stdout, why } = await tried((limits) => command(['-version'], limits));
  const version = versionOf(stdout);
  if (version === undefined) throw missing(`ffmpeg in WebAssembly does not run: ${why}`, undefined);
  return { version, provider: 'packaged', sandbox: 'wasm', notes, command };
};

// ── checks ─────────────────────────────────────────────────────────────────────────────────────────

const tried = async (command: (limits: RunLimits) => Command): Promise<Printed> => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-filter-'));
  try {
    const filter = join(folder, 'filter');
    await writeFile(filter, seccompFilter() ?? '');
    const limits = { input: undefined, output: undefined, filter, maxBytes: 0, timeoutMs: checkTimeoutMs };
    return await printed(command(limits));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  /** Its last line, or what Node says. */
  readonly why: string;
}

/** Never rejects: a program that fails is one that is not used. */
const printed = async (command: Command): Promise<Printed> => {
  const failed = (why: string): Printed => ({ stdout: '', stderr: '', why: why.slice(-200) });
  try {
    const { child, ended, kill } = spawnGroup(command, {
      stdin: 'ignore',
      stdout: 'pipe',
      env: { LC_ALL: 'C' },
    });
    const clock = setTimeout(kill, checkTimeoutMs);
    const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
    const code = await ended.finally(() => clearTimeout(clock));
    const why = stderr().trim().split('\n').at(-1) || 'it printed no version';
    return code === 0 ? { stdout: stdout(), stderr: stderr(), why } : failed(why);
  } catch (error) {
    return failed(String(error));
  }
};

const collected = (source: Readable | null): (() => string) => {
  let text = '';
  source?.setEncoding('utf8').on('data', (more: string) => {
    if (text.length < maxPrinted) text += more;
  });
  return () => text;
};

const versionOf = (printed: string): string | undefined => /^ffmpeg version (\S+)/m.exec(printed)?.[1];

const release = /^n?(\d+)\.(\d+)/;

const isOld = (version: string): boolean => {
  const [, major, minor] = (release.exec(version) ?? []).map(Number);
  if (major === undefined || minor === undefined) return false;
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
};

const whyUnfit = (version: string, printed: string): string | undefined => {
  if (!release.test(version)) return `${version} is not a release`;
  if (isOld(version)) return `${version} is older than ${oldest.join('.')}`;
  const absent = encoders.filter((name) => !new RegExp(`^ \\S{6} ${name} `, 'm').test(printed));
  return absent.length === 0 ? undefined : `it has no encoder ${absent.join(', ')}`;
};

const onPath = async (name: string, path: string): Promise<string | undefined> => {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    if (folder.startsWith('/') && (await isExecutable(file))) return realpath(file);
  }
  return undefined;
};

/** Packages unpacked without their scripts may have lost the mode bit. */
const makeExecutable = async (file: string): Promise<void> => {
  if (await isExecutable(file)) return;
  try {
    const { mode } = await stat(file);
    await chmod(file, mode | 0o111);
  } catch (cause) {
    throw missing(`${file} cannot be executed`, cause);
  }
};

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The client learns that it cannot be done; the log, why. */
const missing = (why: string, cause: unknown) =>
  fail('internal', 'Sound and video cannot be processed on this server', {
    cause: new Error(`ffmpeg is not usable: ${why}`, { cause }),
  });
