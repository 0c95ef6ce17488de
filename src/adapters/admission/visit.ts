/** A request on its way through shared admission: who it is, where it stands, and its slot once it has one. */
import type { Subscriber, Subscription } from 'rxjs';
import type { AdmissionRequest, Lease, LeaseUsage } from '../../ports/admission.ts';

/**
 * asking: a decision is on its way; queued: in the shared queue; alone: in the line of this process; running: holds a
 * slot; over: refused, left, or done.
 */
export type Phase = 'asking' | 'queued' | 'alone' | 'running' | 'over';

export class Visit implements Lease {
  /** Another one each time it changes between the shared queue and the line of this process. */
  id: string;
  phase: Phase = 'asking';
  waited = 0;
  declare position?: number;
  readonly request: AdmissionRequest;
  readonly subscriber: Subscriber<Lease>;
  readonly arrived: number;
  startedAt = 0;
  /** Set while it waits, wherever. */
  cancelDeadline: (() => void) | undefined;
  late = false;
  /** Its place in the line of this process. */
  line: Subscription | undefined;
  /** Its slot in this process, counted beside the shared one. */
  slot: Lease | undefined;
  readonly #releaseSlot: (visit: Visit, usage?: LeaseUsage) => void;

  constructor(
    id: string,
    request: AdmissionRequest,
    subscriber: Subscriber<Lease>,
    arrived: number,
    release: (visit: Visit, usage?: LeaseUsage) => void,
  ) {
    this.id = id;
    this.request = request;
    this.subscriber = subscriber;
    this.arrived = arrived;
    this.#releaseSlot = release;
  }

  /** One and the same text for all at one gate. */
  get gate(): string {
    return `${this.request.subscription}\n${this.request.model}`;
  }

  release(usage?: LeaseUsage): void {
    this.#releaseSlot(this, usage);
  }
}
