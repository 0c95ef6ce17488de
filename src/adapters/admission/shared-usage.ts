/** How full the windows of all processes were when Redis was last reachable, as far as it was reported to this process. */
import type { Clock } from './clock.ts';

interface Reported {
  /** No more had started in the window. */
  readonly most: number;
  readonly until: number;
}

/**
 * The connections for messages and for decisions do not break at the very same moment. A decision that arrives so many
 * milliseconds later was made before.
 */
const tolerance = 250;

export class SharedUsage {
  readonly #clock: Clock;
  readonly #reportedMs: number;
  readonly #reported = new Map<string, Reported>();
  /** Reports from before are known too. */
  #synced = false;
  #lostAt: number | undefined;
  /** When Redis last replied to this process. */
  repliedAt = Number.NEGATIVE_INFINITY;
  /** During an outage: when it began, and whether everything was known then. */
  #outage: { readonly began: number; readonly complete: boolean } | undefined;

  constructor(windowMs: number, clock: Clock) {
    this.#clock = clock;
    // A start is reported at most a quarter of a window late, and counts for a window.
    this.#reportedMs = windowMs * 1.25;
  }

  /**
   * A number and a gate, as the script publishes them. While processes return from an outage, Redis does not know yet
   * what all of them started: a report raises what is known until then, and does not lower it.
   */
  heard(text: string): void {
    const space = text.indexOf(' ');
    const gate = text.slice(space + 1);
    const before = this.#outage === undefined ? 0 : (this.#reported.get(gate)?.most ?? 0);
    const most = Math.max(before, Number(text.slice(0, space)));
    this.#reported.set(gate, { most, until: this.#clock.now() + this.#reportedMs });
  }

  /** Messages are missed from here on. */
  lost(): void {
    this.#lostAt ??= this.#clock.now();
  }

  /** Messages arrive from here on; `earlier` reads those that were missed. */
  async sync(earlier: () => Promise<readonly string[]>): Promise<void> {
    this.#synced = false;
    this.#lostAt = undefined;
    try {
      const texts = await earlier();
      for (const text of texts) this.heard(text);
      this.#synced = this.#lostAt === undefined;
    } catch {
      // Redis is unavailable again: the next subscription tries again, and until then nothing is taken for known.
    }
  }

  outageBegan(): void {
    const lost = this.#lostAt !== undefined && this.repliedAt > this.#lostAt + tolerance;
    this.#outage = { began: this.#clock.now(), complete: this.#synced && !lost };
  }

  outageEnded(): void {
    this.#outage = undefined;
  }

  /** The most that can have started in the window before the outage, by all processes. */
  mostStarted(gate: string, limit: number): number {
    const { began, complete } = this.#outage ?? { began: this.#clock.now(), complete: false };
    if (!complete) return limit;
    const reported = this.#reported.get(gate);
    if (reported !== undefined && reported.until > began) return Math.min(limit, reported.most);
    // A window that is less than half full is not reported.
    return Math.ceil(limit / 2) - 1;
  }

  prune(): void {
    if (this.#outage !== undefined) return;
    const now = this.#clock.now();
    for (const [gate, { until }] of this.#reported) if (until <= now) this.#reported.delete(gate);
  }
}
