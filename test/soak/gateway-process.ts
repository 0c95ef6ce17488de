/** Runs a gateway as a child process that reports its held resources on request. */
import { readdirSync } from 'node:fs';
import { pino } from 'pino';
import { loadConfig } from '../../src/config.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { createLimitsManagement } from '../../src/limits/manage.ts';
import { startGateway } from '../../src/main.ts';

/** Resources that a process holds: all return to their baseline when it is idle. */
export interface Held {
  readonly rss: number;
  readonly heap: number;
  /** Files and sockets by the system's count; timers, threads and pipes by Node's. */
  readonly descriptors: number;
  readonly resources: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly leases: number;
  readonly waiting: number;
  readonly renders: number;
}

const gateway = await startGateway(loadConfig(), pino({ level: 'error' }, pino.destination(2)));
const { state } = gateway.ports;
for (const { id } of await createKeyManagement(state).listSubscriptions())
  await createLimitsManagement(state).set(id, undefined, { requests_per_minute: 1_000_000, concurrency: 64 });

const gauge = (name: string): number =>
  gateway.families().find((family) => family.name === name)?.samples[0]?.value ?? Number.NaN;

/** `/proc` is Linux's; elsewhere Node's own count has to do. */
const descriptors = (): number => {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
};

const held = (): Held => {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  return {
    rss,
    heap: heapUsed,
    descriptors: descriptors(),
    resources,
    inFlight: gauge('sluice_http_in_flight'),
    leases: gauge('sluice_admission_running'),
    waiting: gauge('sluice_admission_waiting'),
    renders: gauge('sluice_renders'),
  };
};

process.on('message', () => process.send?.(held()));
process.send?.(gateway.url);
// Nobody is left to serve.
process.once('disconnect', () => void gateway.stop().then(() => process.exit()));
