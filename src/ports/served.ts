/** How a request was served: collected while it runs, for its response headers and its log line. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Lease } from './admission.ts';
import type { Caller } from './exchange.ts';
import type { Quota } from './quotas.ts';

export class Served {
  readonly caller: Caller;
  /** Id of the model that was asked for. */
  readonly model: string;
  /** Its slot. */
  readonly lease: Lease;
  /** What counts its usage, once there is something to count, and what it has reserved. */
  readonly holder: { readonly account: unknown; readonly quota?: Pick<Quota, 'tokens'> | undefined };
  /** Times of `performance.now`; 0: not yet. The first call to a replica, and the first byte that came back. */
  readonly admittedAt = performance.now();
  calledAt = 0;
  answeredAt = 0;
  /** When its usage event was made. */
  billedAt = 0;
  /** Calls that were sent to engines, retries and fallbacks included; 0 where an engine runs inside the gateway. */
  attempts = 0;
  /** Streams that broke off and went on elsewhere. */
  continuations = 0;
  /** The alias of the replica that was called last. */
  replica = '';
  /** Milliseconds in queues of engines. */
  queuedMs = 0;
  /** Milliseconds from sending the last call until the first byte of its response; -1 until then. */
  engineMs = -1;
  /** Milliseconds that engines have taken so far; of a running response only those until its first byte. */
  busyMs = 0;
  /** Milliseconds of the gateway itself until the head of the response; -1 until then, or where they are not known. */
  overheadMs = -1;
  /** Once the request has ended. */
  usage: UsageEvent | undefined = undefined;

  constructor(caller: Caller, model: string, lease: Lease, holder: Served['holder']) {
    this.caller = caller;
    this.model = model;
    this.lease = lease;
    this.holder = holder;
  }
}
