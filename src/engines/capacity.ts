/** Calls that found every replica full in; one after another out, the subscriptions taking turns. Bounded in length. */

/** A call that waits, and is told once that it waits no longer. */
export interface Waiting {
  readonly subscription: string;
  refused(): void;
}

export class FairLine<Call extends Waiting> {
  readonly #length: number;
  /** A line per subscription; the one whose turn is next comes first. Sets keep order and let a call leave in O(1). */
  readonly #lines = new Map<string, Set<Call>>();
  #size = 0;

  constructor(length: number) {
    this.#length = length;
  }

  get size(): number {
    return this.#size;
  }

  /** False when there is no place. A flood does not take the places of others: where it fills the line, its last call goes. */
  join(call: Call): boolean {
    if (this.#size >= this.#length && !this.#makeRoom(call)) return false;
    let line = this.#lines.get(call.subscription);
    if (line === undefined) {
      line = new Set();
      this.#lines.set(call.subscription, line);
    }
    line.add(call);
    this.#size++;
    return true;
  }

  leave(call: Call): void {
    const line = this.#lines.get(call.subscription);
    if (line?.delete(call) !== true) return;
    this.#size--;
    if (line.size === 0) this.#lines.delete(call.subscription);
  }

  first(): Call | undefined {
    for (const line of this.#lines.values()) for (const call of line) return call;
    return undefined;
  }

  /** Takes it out; its subscription's next turn comes after everybody else's. */
  serve(call: Call): void {
    const line = this.#lines.get(call.subscription);
    this.leave(call);
    if (line === undefined || line.size === 0) return;
    this.#lines.delete(call.subscription);
    this.#lines.set(call.subscription, line);
  }

  #makeRoom({ subscription }: Call): boolean {
    let longest: Set<Call> | undefined;
    for (const line of this.#lines.values())
      if (longest === undefined || line.size > longest.size) longest = line;
    const own = this.#lines.get(subscription)?.size ?? 0;
    if (longest === undefined || longest.size <= own + 1) return false;
    let last: Call | undefined;
    for (const call of longest) last = call;
    if (last === undefined) return false;
    this.leave(last);
    last.refused();
    return true;
  }
}
