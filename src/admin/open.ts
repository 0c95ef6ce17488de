/** The operator's port of a process: its metrics, and whether it should get work. */
import { exposition } from '../metrics/exposition.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Readiness } from './readiness.ts';
import { type AdminServer, startAdmin } from './server.ts';

/** Undefined settings: no such port. Rejects with one clear sentence when it is taken. */
export const openAdmin = async (
  settings: { readonly host: string; readonly port: number } | undefined,
  metrics: Pick<Metrics, 'families'>,
  readiness: Pick<Readiness, 'unready'>,
): Promise<AdminServer | undefined> =>
  settings &&
  startAdmin({
    host: settings.host,
    port: settings.port,
    metrics: () => exposition(metrics.families()),
    unready: () => readiness.unready(),
  });
