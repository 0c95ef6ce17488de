/** The status of every answer of one route in; how often each was given out: one addition to an array a request. */
import type { Sample } from './histogram.ts';

/** HTTP knows none above it. */
const mostStatus = 599;
/** No answer was given: the client left before there was one. */
export const clientLeft = 499;

export class RouteStats {
  readonly #labels: { readonly method: string; readonly route: string };
  readonly #answers = new Float64Array(mostStatus + 1);

  /** The path as the route table has it, so that there are as many labels as routes. */
  constructor(method: string, route: string) {
    this.#labels = { method, route };
  }

  count(status: number): void {
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
  }

  samples(): readonly Sample[] {
    const samples: Sample[] = [];
    for (const [status, value] of this.#answers.entries())
      if (value > 0) samples.push({ labels: { ...this.#labels, status: String(status) }, value });
    return samples;
  }
}
