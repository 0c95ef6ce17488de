import { LeastBusy } from '../../src/engines/pool/policies/least-busy.ts';
import { PrefixAffinity } from '../../src/engines/pool/policies/prefix.ts';
import { mostCached, StartHash, soonest } from './choosers.ts';
import { usualEngine } from './prefix-engine.ts';
import { simulateOracle, simulatePolicy } from './simulate.ts';
import { workloads } from './workloads.ts';

const only = process.argv[2];
const few = process.env.FEW === '1';
const seconds = Number(process.argv[3] ?? 60);
for (const workload of workloads) {
  if (only && only !== 'all' && workload.name !== only) continue;
  const base = { workload, engine: usualEngine, replicas: 4, seconds, seed: 3 };
  const rows = {
    'least-busy': () => simulatePolicy(base, () => new LeastBusy()),
    prefix: () =>
      simulatePolicy(base, () => new PrefixAffinity(process.env.CAP ? Number(process.env.CAP) : undefined)),
    'prefix x3': () =>
      simulatePolicy(
        base,
        () => new PrefixAffinity(process.env.CAP ? Number(process.env.CAP) : undefined),
        3,
      ),
    'hash 2K': () => simulatePolicy(base, () => new StartHash(2048)),
    'most cached': () => simulateOracle(base, mostCached),
    soonest: () => simulateOracle(base, soonest),
  };
  console.log(workload.name);
  for (const [name, run] of Object.entries(rows)) {
    if (few && !name.startsWith('prefix')) continue;
    const r = run();
    console.log(
      `  ${name.padEnd(12)} hit ${(100 * r.hitRate).toFixed(1)} p50 ${r.p50.toFixed(0)} p99 ${r.p99.toFixed(0)} imb ${r.imbalance.toFixed(2)} n ${r.requests}`,
    );
  }
}
