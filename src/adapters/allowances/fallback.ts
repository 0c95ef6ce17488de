/** Allowances by this process alone during an outage of Redis: its portion of them. */
import { type Claim, Exhausted } from '../../ports/allowances.ts';
import type { Clock } from '../admission/clock.ts';
import { unavailable } from '../admission/fallback.ts';
import type { Portion } from '../admission/redis-outage.ts';
import { windowPortion } from '../admission/window-portion.ts';
import { LocalAllowances } from './local.ts';
import type { LocalReservation } from './local-reservation.ts';

interface FallbackOptions {
  readonly clock: Clock;
  /** Milliseconds between the first and the last process to notice an outage. */
  readonly noticeMs: number;
  /** The most of a window that all processes can have used before the outage. */
  mostUsed(name: string, limit: number): number;
  /** What is set aside for this process of a period. */
  shareOf(name: string): number;
}

/** What a reservation counts for in this process. */
export class OwnPart {
  readonly #claims: readonly Claim[];
  readonly #held: LocalReservation;
  readonly #share: LocalReservation | undefined;

  constructor(claims: readonly Claim[], held: LocalReservation, share?: LocalReservation) {
    this.#claims = claims;
    this.#held = held;
    this.#share = share;
  }

  settle(used: readonly number[]): void {
    const of = (isPeriod: boolean): number[] =>
      used.filter((_, index) => (this.#claims[index]?.allowance.span.kind === 'period') === isPeriod);
    this.#held.settle(of(false));
    this.#share?.settle(of(true));
  }
}

export class Fallback {
  readonly #options: FallbackOptions;
  /** All that this process holds and has in windows, whoever decided it. */
  readonly #own: LocalAllowances;
  /** What it used of its shares in this outage. */
  #shares: LocalAllowances;
  #began = 0;
  #ownBefore: ReadonlyMap<string, number> = new Map();

  constructor(options: FallbackOptions) {
    this.#options = options;
    this.#own = new LocalAllowances({ clock: options.clock, spent: 0 });
    this.#shares = new LocalAllowances({ clock: options.clock, spent: 0 });
  }

  /** Counts what Redis granted here too. */
  adopt(id: string, claims: readonly Claim[]): OwnPart {
    return new OwnPart(claims, reserved(this.#own, id, claims.filter(isCountedHere), true));
  }

  outageBegan(): void {
    this.#began = this.#options.clock.now();
    this.#ownBefore = new Map(this.windows().map(({ name, used }) => [name, used]));
    void this.#shares.close();
    this.#shares = new LocalAllowances({ clock: this.#options.clock, spent: 0 });
  }

  /** Throws `Exhausted` for what can never fit, and otherwise `unavailable`: the client has not exceeded anything. */
  reserve(id: string, claims: readonly Claim[], portion: Portion): OwnPart {
    for (const claim of claims)
      if (claim.amount > claim.allowance.limit) throw new Exhausted(claim, claim.allowance.limit, undefined);
    const here = claims
      .filter(isCountedHere)
      .map((claim) => this.#limited(claim, this.#portionOf(claim, portion)));
    const periods = claims.filter((claim) => !isCountedHere(claim));
    const shares = periods.map((claim) => this.#limited(claim, this.#options.shareOf(claim.allowance.name)));
    try {
      const share = reserved(this.#shares, id, shares, false);
      try {
        return new OwnPart(claims, reserved(this.#own, id, here, false), share);
      } catch (error) {
        share.settle(shares.map(() => 0));
        throw error;
      }
    } catch (error) {
      throw error instanceof Exhausted ? unavailable() : error;
    }
  }

  windows(): ReturnType<LocalAllowances['windows']> {
    return this.#own.windows().filter(({ used }) => used > 0);
  }

  async close(): Promise<void> {
    await this.#own.close();
    await this.#shares.close();
  }

  #portionOf({ allowance: { name, limit, span } }: Claim, portion: Portion): number {
    // At least one, even with more processes than may run at once.
    if (span.kind !== 'window') return Math.max(1, Math.floor(limit / portion.replicas));
    const { clock, noticeMs, mostUsed } = this.#options;
    return windowPortion(portion, {
      limit,
      own: this.#ownBefore.get(name) ?? 0,
      most: mostUsed(name, limit),
      elapsed: clock.now() - this.#began,
      windowMs: span.ms,
      lateMs: noticeMs,
    });
  }

  #limited({ allowance, amount }: Claim, limit: number): Claim {
    return { allowance: { ...allowance, limit }, amount };
  }
}

const isCountedHere = ({ allowance: { span } }: Claim): boolean => span.kind !== 'period';

/** At once: what these count begins with nothing. */
const reserved = (
  allowances: LocalAllowances,
  id: string,
  claims: readonly Claim[],
  again: boolean,
): LocalReservation => allowances.reserve(id, claims, { again }) as LocalReservation;
