/**
 * Runs every suite of a folder in one process.
 * Starting a process that loads the whole gateway takes longer than most suites. Each suite also runs alone:
 * `npx tap test/chat/flow.test.ts`.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const runSuites = async (entry: string): Promise<void> => {
  const ending = entry.slice(-'.test.ts'.length);
  const folder = entry.slice(0, -ending.length);
  const suites = readdirSync(fileURLToPath(folder)).filter((name) => name.endsWith(ending));
  for (const name of suites.sort()) await import(`${folder}/${name}`);
};
