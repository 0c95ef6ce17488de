/** Ports whose workers all subscriptions share: threads, processes, fetches. */

export interface Shared<Port> {
  /** The port on behalf of a subscription: where work has to wait, subscriptions take turns. */
  for(subscription: string): Port;
}
