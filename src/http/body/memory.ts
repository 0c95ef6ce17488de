/** The memory of a request body that is not small: claimed from the budget of all of them. */
import { type ApiError, fail } from '../../errors.ts';
import { retryAfter } from '../../helpers/pace.ts';
import { smallBodyBytes } from '../../ports/exchange.ts';
import { type BodyBudget, BodyClaim, type BodyScope } from './budget.ts';

interface Claimant {
  readonly subscription: string;
  /** Undefined: not known yet. */
  readonly length: number | undefined;
  /** The memory that it waited for is there. */
  granted(): void;
  refused(error: ApiError): void;
}

interface MemoryOptions {
  /** Bytes of the largest body that the route takes. */
  readonly most: number;
  readonly admitted: boolean;
}

export class BodyMemory {
  readonly #budget: BodyBudget;
  readonly #body: Claimant;
  readonly #most: number;
  readonly #claim: BodyClaim;
  /** Bytes that the body may have in memory: those of a small one are not counted. */
  #room = smallBodyBytes;
  #waitsSince: number | undefined;

  constructor(budget: BodyBudget, body: Claimant, { most, admitted }: MemoryOptions) {
    this.#budget = budget;
    this.#body = body;
    this.#most = most;
    this.#claim = new BodyClaim(budget, body.subscription, admitted, {
      granted: () => this.#granted(),
      refused: (scope) => body.refused(refusal(scope)),
    });
  }

  admitted(): void {
    this.#budget.admit(this.#claim);
  }

  release(): void {
    this.#budget.release(this.#claim);
  }

  /** Whether it waits for memory, checked at every tick; it is refused when it has waited for `waitMs`. */
  waits(now: number, waitMs: number): boolean {
    if (this.#claim.wanted === 0) {
      this.#waitsSince = undefined;
      return false;
    }
    this.#waitsSince ??= now;
    if (now - this.#waitsSince >= waitMs) this.#budget.refuse(this.#claim);
    return true;
  }

  /** False: there is not so much now, and the body gets to know when there is. */
  reserve(bytes: number): boolean {
    const missing = bytes - this.#room;
    if (missing <= 0) return true;
    if (this.#claim.wanted > 0) return false;
    // Of unknown length: twice as much as before, so that it seldom has to claim.
    const wanted =
      this.#body.length === undefined
        ? Math.min(Math.max(missing, this.#room), this.#most - this.#room)
        : missing;
    if (!this.#budget.take(this.#claim, wanted)) return false;
    this.#room += wanted;
    return true;
  }

  #granted(): void {
    this.#room = smallBodyBytes + this.#claim.held;
    this.#body.granted();
  }
}

const ownRetryMs = 10_000;
const retryMs = 5_000;

const refusal = (scope: BodyScope): ApiError =>
  scope === 'subscription'
    ? fail(
        'rate_limited',
        'Too many large request bodies of this subscription are on their way; retry later',
        { headers: retryAfter(ownRetryMs) },
      )
    : fail('unavailable', 'Too many large request bodies are on their way; retry later', {
        headers: retryAfter(retryMs),
      });
