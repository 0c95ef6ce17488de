/** Finds the command that runs ffmpeg, with its memory limited where the system can. */
import { access, chmod, constants, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fail } from '../errors.ts';

export interface Command {
  readonly file: string;
  /** Arguments before ffmpeg's own. */
  readonly prefix: readonly string[];
}

const require = createRequire(import.meta.url);
const prlimit = '/usr/bin/prlimit';

export interface BinaryOptions {
  /** Path of ffmpeg; undefined: the one that came with the packages. */
  readonly path: string | undefined;
  readonly memoryMegabytes: number;
}

export const findCommand = async ({ path, memoryMegabytes }: BinaryOptions): Promise<Command> => {
  const file = path ?? packagedBinary();
  await makeExecutable(file);
  // It replaces itself by ffmpeg, so that the process id stays; systems without it have -max_alloc alone.
  const bounded = process.platform === 'linux' && (await isExecutable(prlimit));
  if (!bounded) return { file, prefix: [] };
  return { file: prlimit, prefix: [`--as=${memoryMegabytes * 1024 * 1024}`, '--core=0', file] };
};

const packagedBinary = (): string => {
  try {
    return (require('@ffmpeg-installer/ffmpeg') as { readonly path: string }).path;
  } catch (cause) {
    throw missing('there is no ffmpeg for this platform among the installed packages', cause);
  }
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
