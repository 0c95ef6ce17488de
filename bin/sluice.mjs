#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import './build-if-stale.mjs';

// What little survives a young collection is copied by one thread at less cost than by five; cores are for other gateways.
setFlagsFromString('--no-parallel-scavenge');

const { run } = await import('../dist/src/cli/main.js');
process.exitCode = await run(process.argv.slice(2));
