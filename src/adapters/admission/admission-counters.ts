/** What admission has done, counted as it happens. */
import type { AdmissionFigures } from '../../ports/admission.ts';

export class Tally {
  running = 0;
  waiting = 0;
  admitted = 0;
  waited = 0;
  waitedMs = 0;
  refusedByRate = 0;
  refusedByQueue = 0;

  figures(shared: boolean, replicas: number): AdmissionFigures {
    return { ...this, shared, replicas };
  }
}
