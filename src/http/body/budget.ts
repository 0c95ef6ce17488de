/** Limits the memory of large request bodies, per subscription and in all. */
import { FairQueue, type Waiter } from '../../helpers/fair-queue.ts';
import type { Place } from '../../helpers/queue.ts';

/** What bodies of admitted requests, which limits bound in number, may take with all others, compared with those. */
const admittedFactor = 4;

/** Bodies that wait have up to half a megabyte each in memory already: what one read of the socket brought. */
const maxWaiting = 128;

/** Whose memory is used up. */
export type BodyScope = 'subscription' | 'total';

interface Held {
  /** Bytes of requests that are not admitted yet, and of all. */
  unadmitted: number;
  all: number;
}

export class BodyBudget {
  readonly #total: number;
  readonly #perSubscription: number;
  readonly #held: Held = { unadmitted: 0, all: 0 };
  /** Only of subscriptions that hold some. */
  readonly #bySubscription = new Map<string, Held>();
  readonly #waiting = new FairQueue<BodyClaim>(maxWaiting);
  /** Bodies that had to wait. */
  waits = 0;
  readonly refusals: Record<BodyScope, number> = { subscription: 0, total: 0 };

  constructor(total: number, perSubscription: number) {
    this.#total = total;
    this.#perSubscription = perSubscription;
  }

  get unadmitted(): number {
    return this.#held.unadmitted;
  }

  get admitted(): number {
    return this.#held.all - this.#held.unadmitted;
  }

  /** Bodies that wait now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** False: the claim waits until `granted`, or is refused. */
  take(claim: BodyClaim, bytes: number): boolean {
    claim.wanted = bytes;
    if (this.#lacks(claim) === undefined) {
      this.#grant(claim);
      return true;
    }
    if (this.#waiting.enqueue(claim)) this.waits++;
    else this.refuse(claim);
    return false;
  }

  /** It has waited too long, or too many wait. */
  refuse(claim: BodyClaim): void {
    const scope = this.#lacks(claim) ?? 'total';
    this.refusals[scope]++;
    this.release(claim);
    claim.refused(scope);
  }

  /** Its request is admitted. */
  admit(claim: BodyClaim): void {
    if (claim.admitted) return;
    this.#count(claim, -claim.held);
    claim.admitted = true;
    this.#count(claim, claim.held);
    this.#serve();
  }

  /** Its request has ended. */
  release(claim: BodyClaim): void {
    this.#waiting.remove(claim);
    this.#count(claim, -claim.held);
    claim.held = 0;
    claim.wanted = 0;
    this.#serve();
  }

  /** Round-robin between subscriptions. Bodies that do not fit are passed over. */
  #serve(): void {
    if (this.#waiting.size === 0) return;
    const granted: BodyClaim[] = [];
    for (;;) {
      const next = this.#waiting.find((claim) => this.#lacks(claim) === undefined);
      if (next === undefined) break;
      this.#waiting.dequeue(next);
      this.#grant(next);
      granted.push(next);
    }
    // At the end: a body that is read on may claim and release.
    for (const claim of granted) claim.granted();
  }

  /** Whose memory is too little for what the claim wants. */
  #lacks({ subscription, wanted, admitted }: BodyClaim): BodyScope | undefined {
    const own = this.#bySubscription.get(subscription) ?? nothing;
    if (own.all + wanted > admittedFactor * this.#perSubscription) return 'subscription';
    if (!admitted && own.unadmitted + wanted > this.#perSubscription) return 'subscription';
    if (this.#held.all + wanted > admittedFactor * this.#total) return 'total';
    return !admitted && this.#held.unadmitted + wanted > this.#total ? 'total' : undefined;
  }

  #grant(claim: BodyClaim): void {
    const bytes = claim.wanted;
    claim.held += bytes;
    claim.wanted = 0;
    this.#count(claim, bytes);
  }

  #count({ subscription, admitted }: BodyClaim, bytes: number): void {
    if (bytes === 0) return;
    const own = this.#bySubscription.get(subscription) ?? { unadmitted: 0, all: 0 };
    for (const held of [own, this.#held]) {
      held.all += bytes;
      if (!admitted) held.unadmitted += bytes;
    }
    if (own.all === 0) this.#bySubscription.delete(subscription);
    else this.#bySubscription.set(subscription, own);
  }
}

const nothing: Held = { unadmitted: 0, all: 0 };

interface ClaimListener {
  /** What it waited for is granted. */
  granted(): void;
  refused(scope: BodyScope): void;
}

/** What one body holds of the budget, and what it waits for. */
export class BodyClaim implements Waiter<BodyClaim> {
  readonly subscription: string;
  place: Place<BodyClaim> | undefined;
  held = 0;
  wanted = 0;
  admitted: boolean;
  readonly #budget: BodyBudget;
  readonly #listener: ClaimListener;

  constructor(budget: BodyBudget, subscription: string, admitted: boolean, listener: ClaimListener) {
    this.#budget = budget;
    this.subscription = subscription;
    this.admitted = admitted;
    this.#listener = listener;
  }

  granted(): void {
    this.#listener.granted();
  }

  refused(scope: BodyScope): void {
    this.#listener.refused(scope);
  }

  /** Another needs its place in the queue more. */
  rejected(): void {
    this.#budget.refuse(this);
  }
}
