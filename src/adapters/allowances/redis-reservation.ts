/** A reservation of this process in Redis, and where it stands. */
import type { Claim, Reservation } from '../../ports/allowances.ts';
import type { OwnPart } from './fallback.ts';

/** asking: a decision is on its way; settled: Redis may not know that yet; unwanted: it may hold what nobody uses. */
export type Standing = 'asking' | 'reserved' | 'settled' | 'unwanted';

export class RedisReservation implements Reservation {
  readonly id: string;
  readonly claims: readonly Claim[];
  /** Where Redis has it: the partition of all that it claims, and the process. */
  readonly partition: number;
  readonly process: string;
  /** A call that claims in several partitions has a reservation with its id in each. */
  readonly key: string;
  /** When it was reserved, by the clock of this process. */
  readonly at: number;
  standing: Standing = 'asking';
  used: readonly number[] = [];
  /** Of each claim's allowance, where Redis decided. */
  leftOfEach: readonly number[] = [];
  /** What it counts for in this process. */
  own: OwnPart | undefined;
  /** The outage after which Redis last had it; undefined: never. */
  reportedAfter: number | undefined;
  readonly #onSettled: (reservation: RedisReservation) => void;

  constructor(
    reservation: Pick<RedisReservation, 'id' | 'claims' | 'partition' | 'process' | 'at'>,
    onSettled: (reservation: RedisReservation) => void,
  ) {
    const { id, claims, partition, process, at } = reservation;
    this.id = id;
    this.claims = claims;
    this.partition = partition;
    this.process = process;
    this.key = `${partition}:${id}`;
    this.at = at;
    this.#onSettled = onSettled;
  }

  left(index: number): number | undefined {
    return this.leftOfEach[index];
  }

  settle(used: readonly number[]): void {
    if (this.standing !== 'reserved') return;
    this.standing = 'settled';
    this.used = this.claims.map(({ amount }, index) => used[index] ?? amount);
    this.own?.settle(this.used);
    this.#onSettled(this);
  }
}
