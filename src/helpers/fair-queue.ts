/** A bounded queue that serves subscriptions round-robin. */
import { Queue, type Queued } from './queue.ts';

export interface Waiter<Call> extends Queued<Call> {
  readonly subscription: string;
  /** It was dropped from the queue. */
  rejected(): void;
}

export class FairQueue<Call extends Waiter<Call>> {
  readonly #limit: number;
  /** One queue per subscription; the next to be served comes first. */
  readonly #queues = new Map<string, Queue<Call>>();
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
      queue = new Queue();
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
    for (const queue of this.#queues.values()) return queue.first;
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
    let longest: Queue<Call> | undefined;
    for (const queue of this.#queues.values())
      if (longest === undefined || queue.size > longest.size) longest = queue;
    const own = this.#queues.get(subscription)?.size ?? 0;
    if (longest === undefined || longest.size <= own + 1) return false;
    const { last } = longest;
    if (last === undefined) return false;
    this.remove(last);
    last.rejected();
    return true;
  }
}
