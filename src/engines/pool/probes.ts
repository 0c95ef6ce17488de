/** Sends every replica of an engine a health request at an interval. */
import type { EngineRow } from '../../../schemas/engines.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import { milliseconds } from '../duration.ts';
import { rowDefaults } from '../effective-row.ts';
import type { EngineCall } from '../engine-call.ts';
import type { ReplicaPool } from './pool.ts';

/** How a probe ends counts like the outcome of a call. Returns what stops the probes. */
export const startProbes = (
  probe: EngineRow['probe'],
  pool: ReplicaPool,
  headers: readonly string[],
): (() => void) => {
  if (probe === undefined) return () => undefined;
  const request = {
    method: 'GET',
    path: probe.path,
    fromRoot: true,
    headers,
    body: null,
    streams: true,
    readError: (status: number) => ({ status, message: undefined }),
  } as const;
  const flow = { requestId: 'probe', subscription: '', backpressure: new Backpressure() };
  const ignore = (): void => undefined;
  const reader = { head: ignore, bytes: ignore, end: ignore, error: ignore };
  let running: readonly EngineCall[] = [];
  const closeRunning = (): void => {
    for (const call of running) call.close();
  };
  const send = (): void => {
    closeRunning();
    running = pool.replicas.map((replica) =>
      replica.dispatch.send(request, flow, pool.reporting(replica, reader)),
    );
  };
  const timer = setInterval(send, milliseconds(probe.interval ?? rowDefaults.probe.interval)).unref();
  return () => {
    clearInterval(timer);
    closeRunning();
  };
};
