/**
 * Runs every suite of a folder in one process: `node --import tsx test/suites.ts chat`.
 * Starting a process that loads the whole gateway takes longer than most suites.
 */
import { readdirSync } from 'node:fs';

// Suites take no arguments.
const [folder = ''] = process.argv.splice(2);
const files = new URL(`./${folder}/`, import.meta.url);
const ending = import.meta.url.endsWith('.ts') ? '.test.ts' : '.test.js';
const suites = readdirSync(files).filter((name) => name.endsWith(ending));
if (suites.length === 0) throw new Error(`no suites in test/${folder}`);
for (const name of suites.sort()) await import(new URL(name, files).href);
