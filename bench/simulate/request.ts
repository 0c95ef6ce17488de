/** One request on its way through the fleet; the objects are reused. */

import type { Gate } from '../../src/adapters/admission/gate.ts';
import type { Replica } from '../../src/engines/pool/replica.ts';
import type { Waiter } from '../../src/helpers/fair-queue.ts';
import { unindexed } from '../../src/helpers/indexed-list.ts';
import type { Place } from '../../src/helpers/queue.ts';
import type { TimedEvent } from './calendar.ts';
import type { Subscription } from './population.ts';

/**
 * received: in its gateway, on the way to Redis. queued: at its gate. slotless: admitted, without an engine slot.
 * streaming: on a replica. leased: its gateway died, and Redis does not know yet.
 */
export type Phase = 'free' | 'received' | 'queued' | 'slotless' | 'streaming' | 'leased';

/** What a request asks of the fleet when its time has come. */
export interface Stages {
  decide(request: Request): void;
  finish(request: Request): void;
  expire(request: Request): void;
  reject(request: Request): void;
}

export class Request implements TimedEvent, Waiter<Request> {
  readonly #stages: Stages;
  at = 0;
  place: Place<Request> | undefined;
  phase: Phase = 'free';
  /** Changes whenever the object is used for another request: timers of the one before are void. */
  generation = 0;
  owner!: Subscription;
  process = 0;
  arrivedAt = 0;
  startedAt = 0;
  durationMs = 0;
  replica: Replica | undefined;
  /** Where it holds a slot or waits; during an outage of Redis a gate of its process may count it too. */
  gate: Gate | undefined;
  /** While it is queued. */
  leaveGate: () => void = () => undefined;
  /** Place in the list of all that are in use. */
  slot = unindexed;

  constructor(stages: Stages) {
    this.#stages = stages;
  }

  get subscription(): string {
    return this.owner.name;
  }

  fire(): void {
    if (this.phase === 'received') this.#stages.decide(this);
    else if (this.phase === 'streaming') this.#stages.finish(this);
    else if (this.phase === 'leased') this.#stages.expire(this);
  }

  /** The queue for engine slots dropped it. */
  rejected(): void {
    this.#stages.reject(this);
  }
}
