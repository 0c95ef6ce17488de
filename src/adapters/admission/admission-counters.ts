/** Counts the outcomes of admission. */
import type { AdmissionStats, LeaseUsage } from '../../ports/admission.ts';

export class AdmissionCounters {
  running = 0;
  waiting = 0;
  admitted = 0;
  waited = 0;
  waitedMs = 0;
  refusedByRate = 0;
  refusedByQueue = 0;
  promptTokens = 0;
  completionTokens = 0;

  released(usage: LeaseUsage | undefined): void {
    this.running--;
    if (usage === undefined) return;
    this.promptTokens += usage.prompt;
    this.completionTokens += usage.completion;
  }

  stats(sharing: Pick<AdmissionStats, 'shared' | 'replicas' | 'established'>): AdmissionStats {
    return { ...this, ...sharing };
  }
}
