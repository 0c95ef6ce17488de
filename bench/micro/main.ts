/** The micro-benchmark process; arguments select cases by a part of their name. */
import { cases } from './cases.ts';
import { runMicro } from './run.ts';

runMicro(cases, process.argv.slice(2));
process.exit(0);
