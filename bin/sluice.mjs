#!/usr/bin/env node
import './build-if-stale.mjs';

const { run } = await import('../dist/src/cli/main.js');
process.exitCode = await run(process.argv.slice(2));
