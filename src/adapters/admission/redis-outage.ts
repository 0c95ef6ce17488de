/** Whether Redis is unavailable, how many processes share it, and how they return to it together. */
import type { Heartbeat } from '../redis-processes.ts';
import type { Clock } from './clock.ts';

/**
 * shared: Redis decides. local: it is unavailable, and this process decides. settling: it is available again, and this
 * process starts nothing until all have reported what they started.
 */
export type OutagePhase = 'shared' | 'local' | 'settling';

/** Part of a limit that is this process's own, together with all others never more than the whole. */
export interface Portion {
  /** Processes that share the limits, as far as is known. */
  readonly replicas: number;
  /** From 0; what cannot be divided goes to the first. */
  readonly rank: number;
  /** All others know of this process, and have made room for it. */
  readonly established: boolean;
}

/** How far the clocks of processes and servers may seem to differ from what was measured. */
const clockError = 100;

export class Outage {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  #phase: OutagePhase = 'shared';
  /** When a call last failed, and when Redis first responded after that. */
  #failedAt = 0;
  #respondedAt: number | undefined;
  #settlingSince = 0;
  #joinedAt: number | undefined;
  #portion: Portion = { replicas: 1, rank: 0, established: false };

  constructor(ttlMs: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get phase(): OutagePhase {
    return this.#phase;
  }

  /** Processes must have reported since then to count as reconnected. */
  get since(): number {
    return this.#phase === 'shared' ? (this.#joinedAt ?? 0) : this.#failedAt + clockError;
  }

  get portion(): Portion {
    return this.#portion;
  }

  /** A call has failed. Returns the phase that this ends. */
  begin(): OutagePhase {
    const before = this.#phase;
    this.#failedAt = this.#clock.now();
    this.#respondedAt = undefined;
    this.#phase = 'local';
    return before;
  }

  /** Returns the phase that this begins, if any. */
  next(beat: Heartbeat): OutagePhase | undefined {
    const now = this.#clock.now();
    this.#joinedAt ??= now;
    this.#respondedAt ??= now;
    const phase = this.#phaseAfter(beat, now, this.#respondedAt);
    // During an outage fewer report than there are; their portions must not be taken.
    if (phase === 'shared') this.#count(beat);
    if (phase === this.#phase) return undefined;
    this.#phase = phase;
    if (phase === 'settling') this.#settlingSince = now;
    return phase;
  }

  /** All processes have reported what they run and started, or have had the time to; then all have settled. */
  #phaseAfter(beat: Heartbeat, now: number, respondedAt: number): OutagePhase {
    const late = (since: number): boolean => now - since >= this.#ttlMs;
    if (this.#phase === 'local')
      return beat.reportedSince >= this.#portion.replicas || late(respondedAt) ? 'settling' : 'local';
    if (this.#phase === 'settling')
      return beat.allSettled || late(this.#settlingSince) ? 'shared' : 'settling';
    return 'shared';
  }

  /** A new process has no portion until all others have reported, and so know of it. */
  #count({ processes, reportedSince, rank }: Heartbeat): void {
    const replicas = Math.max(1, processes);
    const established = this.#portion.established || replicas === 1 || reportedSince >= replicas;
    this.#portion = { replicas, rank, established };
  }
}
