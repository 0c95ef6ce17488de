/** A bounded queue that serves subscriptions round-robin. */

export interface Waiter {
  readonly subscription: string;
  /** It was dropped from the queue. */
  rejected(): void;
}

export class FairQueue<Call extends Waiter> {
  readonly #limit: number;
  /** One queue per subscription; the next to be served comes first. Sets keep order and remove in O(1). */
  readonly #queues = new Map<string, Set<Call>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** False when it is full. One subscription cannot crowd out the others: the newest call of the longest queue is dropped. */
  enqueue(call: Call): boolean {
    if (this.#size >= this.#limit && !this.#makeRoom(call)) return false;
    let queue = this.#queues.get(call.subscription);
    if (queue === undefined) {
      queue = new Set();
      this.#queues.set(call.subscription, queue);
    }
    queue.add(call);
    this.#size++;
    return true;
  }

  remove(call: Call): void {
    const queue = this.#queues.get(call.subscription);
    if (queue?.delete(call) !== true) return;
    this.#size--;
    if (queue.size === 0) this.#queues.delete(call.subscription);
  }

  first(): Call | undefined {
    for (const queue of this.#queues.values()) for (const call of queue) return call;
    return undefined;
  }

  /** The first, by turns, that may be served now. */
  find(isReady: (call: Call) => boolean): Call | undefined {
    for (const queue of this.#queues.values()) for (const call of queue) if (isReady(call)) return call;
    return undefined;
  }

  /** Removes a call that is served and moves its subscription to the back. */
  dequeue(call: Call): void {
    const queue = this.#queues.get(call.subscription);
    this.remove(call);
    if (queue === undefined || queue.size === 0) return;
    this.#queues.delete(call.subscription);
    this.#queues.set(call.subscription, queue);
  }

  #makeRoom({ subscription }: Call): boolean {
    let longest: Set<Call> | undefined;
    for (const queue of this.#queues.values())
      if (longest === undefined || queue.size > longest.size) longest = queue;
    const own = this.#queues.get(subscription)?.size ?? 0;
    if (longest === undefined || longest.size <= own + 1) return false;
    let last: Call | undefined;
    for (const call of longest) last = call;
    if (last === undefined) return false;
    this.remove(last);
    last.rejected();
    return true;
  }
}
