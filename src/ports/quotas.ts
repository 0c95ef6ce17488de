/** Quotas: what a call may use at most is reserved of every limit and budget that it falls under. */
import type { Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { JobClaim } from '../../schemas/jobs.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { LimitWindow } from '../errors.ts';
import type { Caller, Exchange } from './exchange.ts';

/** The most that a call can use. */
export interface MostUsed {
  /** Tokens. */
  readonly prompt: number;
  readonly completion: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
}

/** A request whose task is known in full. */
export interface QuotaRequest {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly caller: Caller;
  readonly task: unknown;
  readonly account: unknown;
}

/** What `task` and `account` of such a request are where they are of interest. */
export interface Quoted {
  readonly task: { readonly model: Model };
  /** Undefined where it uses nothing that is billed. */
  readonly account: PromptSource | undefined;
}

export interface PromptSource {
  most?(): MostUsed;
  /**
   * Tokens of the prompt by the vocabulary of its model, and what templates may add: an estimate where that is not known.
   * Undefined where it cannot be counted. Takes a while.
   */
  countPrompt?(): Observable<number> | undefined;
}

/** A reservation of one request. */
export interface Quota {
  /** The limit on tokens of which least was left; undefined where none are limited, or it is not known. */
  readonly tokens: LimitWindow | undefined;
  /** Whether a call of another model that would use so much is within it. */
  covers(most: MostUsed): boolean;
  /** Its usage event will come: until then it stays reserved. */
  expectEvent(): void;
  /** With its usage event, once that is durable; undefined: there is none. Only the first call counts. */
  settle(event: UsedQuantities | undefined): void;
  /** The request has ended: settled unless its event is still to come. */
  end(): void;
}

export type UsedQuantities = Pick<UsageEvent, 'quantities' | 'cost'>;

export interface NewJobQuota {
  /** That of the job: its usage event is `usage_<id>`. */
  readonly id: string;
  readonly caller: Caller;
  /** US dollars. */
  readonly cost: string;
}

export interface Quotas {
  /**
   * Undefined where nothing limits the request. Throws or errors with `rate_limited` (429), or `unavailable` (503)
   * where it cannot be decided.
   */
  reserve(request: QuotaRequest): Quota | Observable<Quota> | undefined;
  /** Undefined where no budget is for it. Rejects as `reserve` errors. */
  reserveJob(job: NewJobQuota): Promise<readonly JobClaim[]> | undefined;
  /** After a restart: what was reserved before is reserved again, whatever is left. */
  resumeJob(id: string, claims: readonly JobClaim[]): Promise<void>;
  /** US dollars that it cost in the end. */
  settleJob(id: string, claims: readonly JobClaim[], cost: string): Promise<void>;
}
