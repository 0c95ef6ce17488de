/** What admission has done, counted as it happens. */
import type { AdmissionStats } from '../../ports/admission.ts';

export class AdmissionCounters {
  running = 0;
  waiting = 0;
  admitted = 0;
  waited = 0;
  waitedMs = 0;
  refusedByRate = 0;
  refusedByQueue = 0;

  stats(shared: boolean, replicas: number): AdmissionStats {
    return { ...this, shared, replicas };
  }
}
