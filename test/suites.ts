/**
 * Runs every suite of a folder in one process: `node --import tsx test/suites.ts chat`.
 * Starting a process that loads the whole gateway takes longer than most suites.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [node = '', , name = ''] = process.argv;
const folder = new URL(`./${name}/`, import.meta.url);
const ending = import.meta.url.endsWith('.ts') ? '.test.ts' : '.test.js';
const suites = readdirSync(folder).filter((file) => file.endsWith(ending));
if (suites.length === 0) throw new Error(`no suites in test/${name}`);
// tap names the files of tests after their program: those of two folders must not meet.
process.argv = [node, fileURLToPath(folder)];
for (const file of suites.sort()) await import(new URL(file, folder).href);
