/** Counts what each subscription holds of a shared resource, and keeps a part of it free for the others. */

/** One subscription never holds this part of the whole, nor all of it. */
const keptForOthers = 1 / 4;

export class Shares {
  readonly #capacity: number;
  /** What one subscription may hold. */
  readonly largest: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.largest = Math.max(1, capacity - Math.max(1, Math.floor(capacity * keptForOthers)));
  }

  get total(): number {
    return this.#total;
  }

  hasRoom(subscription: string, amount = 1): boolean {
    return (
      this.#total + amount <= this.#capacity && (this.#held.get(subscription) ?? 0) + amount <= this.largest
    );
  }

  take(subscription: string, amount = 1): void {
    this.#total += amount;
    this.#held.set(subscription, (this.#held.get(subscription) ?? 0) + amount);
  }

  give(subscription: string, amount = 1): void {
    this.#total -= amount;
    const left = (this.#held.get(subscription) ?? 0) - amount;
    if (left > 0) this.#held.set(subscription, left);
    else this.#held.delete(subscription);
  }
}
