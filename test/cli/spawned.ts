/** Runs the built `sluice` as users do: in a process and an environment of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Starting it from TypeScript would take seconds each time. */
export const main = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

export const sluice = async (environment: Record<string, string>, ...words: string[]) => {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode ?? once(child, 'exit'),
  ]);
  return { code: child.exitCode, out, err };
};
