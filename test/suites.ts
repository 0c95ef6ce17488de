/**
 * An entry beside a folder in; every suite of that folder run, in this one process: starting a process that loads the
 * whole house costs more than most suites do. Each suite still runs alone: `npx tap test/chat/flow.test.ts`.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const runSuites = async (entry: string): Promise<void> => {
  const ending = entry.slice(-'.test.ts'.length);
  const folder = entry.slice(0, -ending.length);
  const suites = readdirSync(fileURLToPath(folder)).filter((name) => name.endsWith(ending));
  for (const name of suites.sort()) await import(`${folder}/${name}`);
};
