/** Ports whose workers all subscriptions share: threads, processes, fetches. */

export interface Shared<Port> {
  /** The port on behalf of a subscription: where work has to wait, subscriptions take turns. */
  for(subscription: string): Port;
  /** What runs and waits now, by the name of the resource. */
  stats(): Readonly<Record<string, ResourceStats>>;
}

export interface ResourceStats {
  readonly running: number;
  readonly waiting: number;
  /** Since it was opened: the queue was full, or the wait too long. */
  readonly refused: number;
}

/** Whose work it is, and what ends its wait. */
export interface Turn {
  readonly subscription: string;
  readonly signal: AbortSignal;
}

/** The subscription of work that the gateway does for itself. */
export const ownWork = '';
