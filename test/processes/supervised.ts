/** What the tests of supervised gateways share: settings of a start, and the processes below it. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Test } from 'tap';

export const key = 'sk-test-0123456789abcdef0123456789abcdef';

/** Ports of its own, an empty data folder, a known key. */
export const environmentOf = (t: Test): NodeJS.ProcessEnv => ({
  ...process.env,
  PORT: '0',
  SLUICE_ADMIN_PORT: '0',
  SLUICE_DATA: t.testdir(),
  SLUICE_BOOTSTRAP_KEY: key,
});

/** Its gateways, by their ids in the system; one may end while it is looked at. */
export const childrenOf = async ({ pid }: ChildProcess): Promise<readonly number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const ids = text.trim().split(' ').map(Number);
  const commands = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  );
  return ids.filter((_, index) => commands[index]?.includes('serve'));
};
