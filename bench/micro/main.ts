/** The micro-benchmarks as a process of their own; arguments pick by a part of the name. */
import { cases } from './cases.ts';
import { runMicro } from './run.ts';

runMicro(cases, process.argv.slice(2));
process.exit(0);
