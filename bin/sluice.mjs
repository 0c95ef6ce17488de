#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import './build-if-stale.mjs';

// Little survives a young collection: one thread copies it cheaper than five, and the other cores run other gateways.
setFlagsFromString('--no-parallel-scavenge');
// Usage events survive a collection or two, and V8 would then allocate all later ones in the old generation, where they
// stay with whatever they refer to until a full collection. One start in three did: half a megabyte per collection.
setFlagsFromString('--no-allocation-site-pretenuring');
// A request passes through many small functions; with the default budget of 920 too few of them are inlined. With 2500
// embeddings took 8 % longer.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=2000');

const { run } = await import('../dist/src/cli/main.js');
process.exitCode = await run(process.argv.slice(2));
