import { runSuites } from './suites.ts';

await runSuites(import.meta.url);
