#!/usr/bin/env -S node --max-semi-space-size=8 --v8-pool-size=2 --no-memory-reducer
import { setFlagsFromString } from 'node:v8';
import './build-if-stale.mjs';

// The flags of the first line can only be set there, by `npm start` and in the Dockerfile: half the usual young generation
// and half the usual threads cost no CPU time, and save 20 MB. In place of the memory reducer, `collectWhenIdle` collects.

// Little survives a young collection: one thread copies it cheaper than five, and the other cores run other gateways.
setFlagsFromString('--no-parallel-scavenge');
// Usage events survive a collection or two, and V8 would then allocate all later ones in the old generation, where they
// stay with whatever they refer to until a full collection. One start in three did: half a megabyte per collection.
setFlagsFromString('--no-allocation-site-pretenuring');
if (Number.parseInt(process.versions.v8, 10) < 12) {
  // For Node 20 only: with Node 24 a response takes 4 to 9 % more CPU time with these two flags.
  // A request passes through many small functions; with the default budget of 920 too few of them are inlined. With 2500
  // embeddings took 8 % longer.
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=2000');
  // Stages call each other through one interface that many classes implement: with the default of four a call of a fifth
  // class is looked up in a table, and never inlined.
  setFlagsFromString('--max-valid-polymorphic-map-count=8');
}
// Full collections drop the code of functions that have not run for a while. After a quiet minute that was nearly all of
// it, and a request took twice the CPU time until it was compiled again.
setFlagsFromString('--no-flush-bytecode');
// They also drop the maps of objects of which none was alive in the last two collections, and the code that depends on them.
setFlagsFromString('--retain-maps-for-n-gc=1000');

const { run } = await import('../dist/bundle/main.js');
process.exitCode = await run(process.argv.slice(2));
