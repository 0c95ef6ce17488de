/** The operator's port of a gateway: metrics gathered from its parts, and whether it should get traffic. */
import { exposition } from '../metrics/exposition.ts';
import { admissionFamilies, engineFamily, type Metrics } from '../metrics/metrics.ts';
import { gauge } from '../metrics/process.ts';
import type { Ports } from '../ports/ports.ts';
import type { Readiness } from './readiness.ts';
import { type AdminServer, startAdmin } from './server.ts';

export interface AdminParts {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly ports: Pick<Ports, 'admission' | 'engines'>;
  /** Bytes of usage on disk that are not shipped yet. */
  readonly journalLag: () => number;
}

/** Undefined settings: no such port. Rejects with one clear sentence when it is taken. */
export const openAdmin = async (
  settings: { readonly host: string; readonly port: number } | undefined,
  { metrics, readiness, ports, journalLag }: AdminParts,
): Promise<AdminServer | undefined> => {
  metrics.watch(() => [
    ...admissionFamilies(ports.admission.figures()),
    engineFamily(ports.engines.health()),
    gauge('sluice_journal_lag_bytes', 'Usage on disk that is not shipped yet.', journalLag()),
  ]);
  if (settings === undefined) return undefined;
  return startAdmin({
    ...settings,
    metrics: () => exposition(metrics.families()),
    unready: () => readiness.unready(),
  });
};
