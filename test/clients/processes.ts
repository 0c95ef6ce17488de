/** Runs a program with a time limit and collects what it prints. */
import { spawn } from 'node:child_process';
import { patiently } from '../eventually.ts';
import type { Output } from './client.ts';

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly seconds: number;
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** Of each stream, the most that is kept. */
const outputLimit = 4 * 1024 * 1024;

/** In a process group of its own: what a client leaves running is killed with it. */
export const runProgram = ({ program, args, env, cwd, seconds, input, signal }: Program): Promise<Output> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    let killed: string | undefined;
    const killGroup = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nothing of the group is left.
      }
    };
    const stop = (reason: string) => () => {
      killed ??= reason;
      killGroup();
    };
    const onAbort = stop('the time limit of its client was reached');
    const timer = setTimeout(stop(`it took longer than ${seconds} s`), patiently(seconds * 1000));
    signal?.addEventListener('abort', onAbort, { once: true });
    process.once('exit', killGroup);
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] = (said[name] + text).slice(-outputLimit);
      });
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      process.off('exit', killGroup);
      killGroup();
    };
    child.once('error', (error) => {
      end();
      reject(error);
    });
    // A program that does not read its input may close it.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    // Not `close`: a grandchild that holds the pipes would delay it; it is killed first.
    child.once('exit', () => end());
    child.once('close', (code) => {
      if (killed === undefined) resolve({ code: code ?? undefined, ...said });
      else reject(new Error(`${program} was killed: ${killed}\n${tail(said)}`));
    });
    if (signal?.aborted) onAbort();
  });

/** The end of what a program printed, for a message. */
export const tail = ({ stdout, stderr }: Pick<Output, 'stdout' | 'stderr'>, length = 3000): string =>
  [stdout.slice(-length), stderr.slice(-length)].filter((text) => text.trim() !== '').join('\n---\n');
