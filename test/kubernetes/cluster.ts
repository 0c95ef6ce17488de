/** Runs the chart on a control plane, in the network namespace that `main.ts` made. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChecks } from './check.ts';
import { checkAdmission } from './cluster-admission.ts';
import { checkDiscovery } from './cluster-discovery.ts';
import { checkRollouts } from './cluster-rollouts.ts';
import { startControlPlane } from './control-plane.ts';

// The first process of a namespace gets no signal that it does not handle.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

// Every pod and service ends with this process.
process.setMaxListeners(100);

const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-'));
const plane = await startControlPlane(join(folder, 'control-plane'));
const checks = createChecks();
try {
  await checkAdmission(checks, plane);
  await checkDiscovery(checks, plane, folder);
  await checkRollouts(checks, plane, folder);
} finally {
  await plane.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(checks.results.every(({ problem }) => problem === undefined) ? 0 : 1);
