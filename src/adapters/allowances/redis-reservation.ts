/** A reservation of this process in Redis, and where it stands. */
import type { Claim, Reservation } from '../../ports/allowances.ts';
import type { OwnPart } from './fallback.ts';

/** asking: a decision is on its way; settled: Redis may not know that yet; unwanted: it may hold what nobody uses. */
export type Standing = 'asking' | 'reserved' | 'settled' | 'unwanted';

export class RedisReservation implements Reservation {
  readonly id: string;
  readonly claims: readonly Claim[];
  /** Under which process Redis has it. */
  readonly process: string;
  /** When it was reserved, by the clock of this process. */
  readonly at: number;
  standing: Standing = 'asking';
  used: readonly number[] = [];
  /** What it counts for in this process. */
  own: OwnPart | undefined;
  /** The outage after which Redis last had it; undefined: never. */
  reportedAfter: number | undefined;
  readonly #onSettled: (reservation: RedisReservation) => void;

  constructor(
    { id, claims, process, at }: Pick<RedisReservation, 'id' | 'claims' | 'process' | 'at'>,
    onSettled: (reservation: RedisReservation) => void,
  ) {
    this.id = id;
    this.claims = claims;
    this.process = process;
    this.at = at;
    this.#onSettled = onSettled;
  }

  settle(used: readonly number[]): void {
    if (this.standing !== 'reserved') return;
    this.standing = 'settled';
    this.used = this.claims.map(({ amount }, index) => used[index] ?? amount);
    this.own?.settle(this.used);
    this.#onSettled(this);
  }
}
