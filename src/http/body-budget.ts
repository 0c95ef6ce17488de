/** Limits the memory of large request bodies, per subscription and in all. */

/** Every body may take this much without being counted: most are smaller. */
export const freeBodyBytes = 64 * 1024;

/** What bodies of admitted requests, which limits bound in number, may take with all others, compared with those. */
const admittedFactor = 4;

/** Bodies that wait have up to half a megabyte each in memory already: what one read of the socket brought. */
const maxWaiting = 256;
const maxWaitingPerSubscription = 32;

/** Whose memory is used up. */
export type BodyScope = 'subscription' | 'total';

interface Share {
  /** Bytes of requests that are not admitted yet, and of all. */
  unadmitted: number;
  all: number;
  readonly waiting: Set<BodyClaim>;
}

export class BodyBudget {
  readonly #total: number;
  readonly #perSubscription: number;
  /** Only of subscriptions that hold or wait; the next to be served comes first. */
  readonly #shares = new Map<string, Share>();
  unadmitted = 0;
  all = 0;
  /** Bodies that wait now. */
  waiting = 0;
  /** Bodies that had to wait. */
  waits = 0;
  readonly refusals: Record<BodyScope, number> = { subscription: 0, total: 0 };

  constructor(total: number, perSubscription: number) {
    this.#total = total;
    this.#perSubscription = perSubscription;
  }

  /** False: the claim waits until `granted` is called, or was refused at once. */
  take(claim: BodyClaim, bytes: number): boolean {
    const share = this.#shareOf(claim.subscription);
    claim.wanted = bytes;
    if (share.waiting.size === 0 && this.#lacks(share, claim) === undefined) {
      this.#grant(claim, share);
      return true;
    }
    if (share.waiting.size >= maxWaitingPerSubscription) this.refuse(claim, 'subscription');
    else if (this.waiting >= maxWaiting) this.refuse(claim, 'total');
    else {
      share.waiting.add(claim);
      this.waiting++;
      this.waits++;
    }
    return false;
  }

  /** Without a scope: it has waited too long. */
  refuse(claim: BodyClaim, scope?: BodyScope): void {
    // One that would fit stands behind another of its own subscription.
    claim.refused = scope ?? this.#lacks(this.#shareOf(claim.subscription), claim) ?? 'subscription';
    this.refusals[claim.refused]++;
    this.release(claim);
  }

  /** Its request is admitted. */
  admit(claim: BodyClaim): void {
    if (claim.admitted) return;
    claim.admitted = true;
    this.unadmitted -= claim.held;
    const share = this.#shareOf(claim.subscription);
    share.unadmitted -= claim.held;
    this.#changed(claim.subscription, share);
  }

  /** Its request has ended. */
  release(claim: BodyClaim): void {
    const share = this.#shareOf(claim.subscription);
    if (share.waiting.delete(claim)) this.waiting--;
    share.all -= claim.held;
    this.all -= claim.held;
    if (!claim.admitted) {
      share.unadmitted -= claim.held;
      this.unadmitted -= claim.held;
    }
    claim.held = 0;
    claim.wanted = 0;
    this.#changed(claim.subscription, share);
  }

  #changed(subscription: string, share: Share): void {
    if (share.all === 0 && share.waiting.size === 0) this.#shares.delete(subscription);
    if (this.waiting > 0) this.#serve();
  }

  /** Round-robin between subscriptions. One whose next body does not fit is passed over. */
  #serve(): void {
    const granted: BodyClaim[] = [];
    for (let before = -1; before < granted.length; ) {
      before = granted.length;
      for (const [subscription, share] of [...this.#shares]) {
        const [next] = share.waiting;
        if (next === undefined || this.#lacks(share, next) !== undefined) continue;
        share.waiting.delete(next);
        this.waiting--;
        this.#grant(next, share);
        granted.push(next);
        this.#shares.delete(subscription);
        this.#shares.set(subscription, share);
      }
    }
    // At the end: a body that is read on may claim and release.
    for (const claim of granted) claim.granted();
  }

  /** Whose memory is too little for what the claim wants. */
  #lacks(share: Share, { wanted, admitted }: BodyClaim): BodyScope | undefined {
    const own = this.#perSubscription;
    const total = this.#total;
    if (share.all + wanted > admittedFactor * own) return 'subscription';
    if (!admitted && share.unadmitted + wanted > own) return 'subscription';
    if (this.all + wanted > admittedFactor * total) return 'total';
    return !admitted && this.unadmitted + wanted > total ? 'total' : undefined;
  }

  #grant(claim: BodyClaim, share: Share): void {
    const bytes = claim.wanted;
    claim.held += bytes;
    share.all += bytes;
    this.all += bytes;
    claim.wanted = 0;
    if (claim.admitted) return;
    share.unadmitted += bytes;
    this.unadmitted += bytes;
  }

  #shareOf(subscription: string): Share {
    let share = this.#shares.get(subscription);
    if (share === undefined) {
      share = { unadmitted: 0, all: 0, waiting: new Set() };
      this.#shares.set(subscription, share);
    }
    return share;
  }
}

/** What one body holds of the budget, and what it waits for. */
export class BodyClaim {
  readonly subscription: string;
  /** What it waited for is granted. */
  readonly granted: () => void;
  held = 0;
  wanted = 0;
  admitted = false;
  refused: BodyScope | undefined;

  constructor(subscription: string, granted: () => void) {
    this.subscription = subscription;
    this.granted = granted;
  }
}
