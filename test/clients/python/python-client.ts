/** A client in Python: a script of checks, and the blocks of docs/clients.md that belong to it. */
import { fileURLToPath } from 'node:url';
import type { Client, Site } from '../client.ts';

export interface PythonClient extends Omit<Client, 'registry' | 'run'> {
  /** Beside this file; its checks are marked with `@check`. */
  readonly script: string;
  /** What each of its blocks prints. */
  readonly blocks: Readonly<Record<string, RegExp>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Line {
  readonly check: string;
  readonly seconds: number;
  readonly problem: string | null;
}

export const pythonClient = ({ script, blocks, env = {}, ...client }: PythonClient): Client => ({
  ...client,
  registry: 'pypi',
  async run(site) {
    for (const [name, expected] of Object.entries(blocks))
      await site.check(`docs: ${name}`, async () => {
        const { stdout } = await site.runBlock(name, { env });
        if (!expected.test(stdout)) throw new Error(`it printed ${stdout.slice(-1000)}, not ${expected}`);
      });
    await runScript(site, script, env, client.seconds ?? 300);
  },
});

const runScript = async (
  site: Site,
  script: string,
  env: Readonly<Record<string, string>>,
  seconds: number,
): Promise<void> => {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await site.run('python', [file], { env, seconds });
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"check":'));
  if (lines.length === 0) throw new Error(`${script} ran no check`);
  for (const line of lines) {
    const { check, seconds: taken, problem } = JSON.parse(line) as Line;
    site.report(check, problem ?? undefined, taken);
  }
};
