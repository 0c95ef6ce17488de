/** Counts the responses of one route by status, with one addition to an array per request. */
import type { Sample } from './exposition.ts';

/** The highest that HTTP has. */
const maxStatus = 599;
/** The client disconnected before there was a response. */
export const clientClosedRequest = 499;

export class RouteStats {
  readonly #labels: { readonly method: string; readonly route: string };
  readonly #counts = new Float64Array(maxStatus + 1);

  /** The path as declared in the route table, so that there are as many labels as routes. */
  constructor(method: string, route: string) {
    this.#labels = { method, route };
  }

  count(status: number): void {
    this.#counts[status] = (this.#counts[status] ?? 0) + 1;
  }

  samples(): readonly Sample[] {
    const samples: Sample[] = [];
    for (const [status, value] of this.#counts.entries())
      if (value > 0) samples.push({ labels: { ...this.#labels, status: String(status) }, value });
    return samples;
  }
}
