#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import './build-if-stale.mjs';

// What little survives a young collection is copied by one thread at less cost than by five; cores are for other gateways.
setFlagsFromString('--no-parallel-scavenge');
// Usage that waits a moment to be shipped is no reason to make all that follows among what stays: it would lie there,
// with whatever it refers to, until a full collection. One start in three went that way: half a megabyte a collection.
setFlagsFromString('--no-allocation-site-pretenuring');
// A request passes many small functions; with the usual budget of 920 calls remain that cost more than their work does.
// With 2500 embeddings took 8 % longer.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=1300');

const { run } = await import('../dist/src/cli/main.js');
process.exitCode = await run(process.argv.slice(2));
