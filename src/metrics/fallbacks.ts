/** Counts the requests that a fallback of their model took over, by both models and the reason. */
import type { Fallbacks } from '../ports/engines/fallbacks.ts';
import { counter, type MetricFamily } from './exposition.ts';

/** Series of their own; further ones are counted as `other`. */
const maxSeries = 500;

interface Series {
  readonly labels: { readonly from: string; readonly to: string; readonly reason: string };
  value: number;
}

export class FallbackCounts implements Fallbacks {
  readonly #series = new Map<string, Series>();

  count(from: string, to: string, reason: string): void {
    const key = `${from}\n${to}\n${reason}`;
    const known = this.#series.get(key);
    if (known !== undefined) known.value++;
    else if (this.#series.size < maxSeries) this.#series.set(key, { labels: { from, to, reason }, value: 1 });
    else this.#countOther(reason);
  }

  #countOther(reason: string): void {
    const key = `\n${reason}`;
    const known = this.#series.get(key);
    if (known !== undefined) known.value++;
    else this.#series.set(key, { labels: { from: 'other', to: 'other', reason }, value: 1 });
  }

  families(): readonly MetricFamily[] {
    return [
      counter(
        'sluice_fallbacks_total',
        'Requests that were handed over to a fallback of their model, by reason.',
        [...this.#series.values()].map(({ labels, value }) => ({ labels, value })),
      ),
    ];
  }
}
