/** Gathers what is asked of each gate in one turn of the event loop, so that it goes in one call. */
import type { AdmissionRequest } from '../../ports/admission.ts';

/** Of one gate and its limits, in order. */
export interface GateBatch<Item> {
  readonly request: AdmissionRequest;
  readonly items: [Item, ...Item[]];
}

export class GateBatches<Item> {
  readonly #mostItems: number;
  /** By subscription, whose text has a hash already; that of a gate would be joined and hashed for each request. */
  #batches = new Map<string, GateBatch<Item>[]>();

  constructor(mostItems: number) {
    this.#mostItems = mostItems;
  }

  get isEmpty(): boolean {
    return this.#batches.size === 0;
  }

  add(request: AdmissionRequest, item: Item): void {
    const batches = this.#batches.get(request.subscription);
    if (batches === undefined) {
      this.#batches.set(request.subscription, [{ request, items: [item] }]);
      return;
    }
    const batch = batches.findLast((each) => isSameGate(each.request, request));
    if (batch !== undefined && batch.items.length < this.#mostItems) batch.items.push(item);
    else batches.push({ request, items: [item] });
  }

  /** Those of one gate in their order. */
  take(): GateBatch<Item>[] {
    const batches = [...this.#batches.values()].flat();
    this.#batches = new Map();
    return batches;
  }
}

/** Of one subscription. */
const isSameGate = (one: AdmissionRequest, other: AdmissionRequest): boolean =>
  one.model === other.model &&
  one.limits.concurrency === other.limits.concurrency &&
  one.limits.requests_per_minute === other.limits.requests_per_minute;
