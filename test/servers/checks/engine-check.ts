/** Checks that `sluice engine check` finds nothing wrong with the server. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runProgram, tail } from '../../clients/processes.ts';
import type { Bench } from '../check.ts';

const program = fileURLToPath(new URL('../../../bin/sluice.mjs', import.meta.url));

export const checkByCommand = async ({ check, search, writers: [writer] }: Bench): Promise<void> => {
  for (const [kind, replica, model] of [
    ['chat', writer, 'writer'],
    ['embedding', search, 'search'],
  ] as const)
    await check(`sluice engine check --kind ${kind}`, async () => {
      if (replica === undefined) throw new Error('no replica');
      const url = `${replica.origin}/v1`;
      const output = await runProgram({
        program: process.execPath,
        args: [program, 'engine', 'check', url, '--kind', kind, '--model', model, '--key', replica.key],
        env: process.env,
        cwd: tmpdir(),
        seconds: 180,
      });
      assert.equal(output.code, 0, tail(output));
    });
};
