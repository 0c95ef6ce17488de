/** An admission client for tests that records its outcome and lease. */

import { EventEmitter, once } from 'node:events';
import type { Subscription } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import type { Admission, AdmissionRequest, Lease, LeaseUsage, Limits } from '../../src/ports/admission.ts';
import { patiently } from '../eventually.ts';

export const request = (limits: Partial<Limits> = {}, subscription = 'sub_1', model = 'acme/one') =>
  ({
    subscription,
    model,
    limits: { concurrency: 1, requests_per_minute: 100, ...limits },
  }) satisfies AdmissionRequest;

export type Outcome =
  | { readonly kind: 'admitted'; readonly waited: number; readonly position?: number }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly message: string;
      readonly retryAfter: number;
    };

export class Client {
  outcome: Outcome | undefined;
  lease: Lease | undefined;
  readonly #events = new EventEmitter();
  readonly #subscription: Subscription;

  constructor(admission: Admission, request: AdmissionRequest, onOutcome?: (outcome: Outcome) => void) {
    const settle = (outcome: Outcome): void => {
      this.outcome = outcome;
      onOutcome?.(outcome);
      this.#events.emit('outcome');
    };
    this.#subscription = emitted(admission.admit(request)).subscribe({
      next: (lease) => {
        this.lease = lease;
        const { waited, position } = lease;
        settle({ kind: 'admitted', waited, ...(position === undefined ? {} : { position }) });
      },
      error: (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        const { status, message, headers } = error;
        settle({ kind: 'refused', status, message, retryAfter: Number(headers['retry-after']) });
      },
    });
  }

  async settled(): Promise<Outcome> {
    if (this.outcome === undefined)
      await once(this.#events, 'outcome', { signal: AbortSignal.timeout(patiently(10_000)) });
    if (this.outcome === undefined) throw new Error('unreachable');
    return this.outcome;
  }

  /** `admitted`, or status and Retry-After of a refusal. */
  async result(): Promise<string> {
    const outcome = await this.settled();
    return outcome.kind === 'admitted' ? 'admitted' : `${outcome.status} ${outcome.retryAfter}`;
  }

  disconnect(): void {
    this.#subscription.unsubscribe();
  }

  release(usage?: LeaseUsage): void {
    if (this.lease === undefined) throw new Error('holds nothing');
    this.lease.release(usage);
  }
}
