/** Collects what an observable of replicas emits, and waits for what is expected. */
import type { Observable, Subscription } from 'rxjs';
import type { ReplicaAddress } from '../../src/engines/pool/membership.ts';
import { eventually } from '../eventually.ts';

export class Followed {
  readonly seen: (readonly string[])[] = [];
  readonly addresses: (readonly ReplicaAddress[])[] = [];
  error: unknown;
  readonly #subscription: Subscription;

  constructor(source: Observable<readonly ReplicaAddress[]>) {
    this.#subscription = source.subscribe({
      next: (addresses) => {
        this.addresses.push(addresses);
        this.seen.push(addresses.map(({ url }) => url).sort());
      },
      error: (error) => {
        this.error = error;
      },
    });
  }

  /** The latest list becomes this one. */
  becomes(urls: readonly string[]): Promise<unknown> {
    const wanted = JSON.stringify([...urls].sort());
    return eventually(() => JSON.stringify(this.seen.at(-1)) === wanted, `the replicas are ${wanted}`, 20);
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}
