/** Sums usage events by day, subscription, model, key and route in whole numbers. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { rescale, toScaled } from '../../helpers/decimal.ts';

export const millisecondsOfDay = 86_400_000;

/** What a request is billed for, in the order of every table. */
export const billedColumns = [
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'inputs',
  'megapixels',
  'seconds',
  'cost',
] as const;
/** Measures are whole billionths; money is whole billionths and what is left, in 10⁻¹⁸: sums of both stay far below 2⁶³. */
export const sumColumns = ['requests', 'failed', ...billedColumns, 'cost_rest'] as const;

type GroupValues = readonly [day: number, subscription: string, model: string, key: string, route: string];
export type DayRow = readonly [...GroupValues, ...(number | bigint)[]];

class Sums {
  readonly group: GroupValues;
  requests = 0;
  failed = 0;
  prompt = 0;
  completion = 0;
  cached = 0;
  reasoning = 0;
  inputs = 0;
  megapixels = 0n;
  seconds = 0n;
  cost = 0n;

  constructor(group: GroupValues) {
    this.group = group;
  }

  takes({ time, subscription, model, key, route }: UsageEvent, span: number): boolean {
    const { group } = this;
    return (
      Math.floor(time / span) === group[0] &&
      subscription === group[1] &&
      model === group[2] &&
      key === group[3] &&
      route === group[4]
    );
  }

  /** Of a request that failed nothing is billed. */
  add({ outcome, quantities, cost }: UsageEvent): void {
    this.requests++;
    if (outcome === 'failed') {
      this.failed++;
      return;
    }
    this.prompt += quantities.prompt_tokens;
    this.completion += quantities.completion_tokens;
    this.cached += quantities.cached_tokens;
    this.reasoning += quantities.reasoning_tokens;
    this.inputs += quantities.inputs ?? 0;
    if (quantities.megapixels !== undefined) this.megapixels += rescale(toScaled(quantities.megapixels), 9);
    if (quantities.seconds !== undefined) this.seconds += rescale(toScaled(quantities.seconds), 9);
    if (cost !== '0') this.cost += rescale(toScaled(cost), 18);
  }

  row(): DayRow {
    return [
      ...this.group,
      this.requests,
      this.failed,
      this.prompt,
      this.completion,
      this.cached,
      this.reasoning,
      this.inputs,
      this.megapixels,
      this.seconds,
      this.cost / 1_000_000_000n,
      this.cost % 1_000_000_000n,
    ];
  }
}

/** By day, or by another span of time: `day` of its rows is then the number of that. */
export class DaySums {
  readonly #span: number;
  readonly #groups = new Map<string, Sums>();
  #latest: Sums | undefined;

  constructor(span = millisecondsOfDay) {
    this.#span = span;
  }

  add(event: UsageEvent): void {
    // Events that come together are mostly of one group.
    if (this.#latest?.takes(event, this.#span) !== true) this.#latest = this.#groupOf(event);
    this.#latest.add(event);
  }

  #groupOf({ time, subscription, model, key, route }: UsageEvent): Sums {
    const day = Math.floor(time / this.#span);
    const name = JSON.stringify([day, subscription, model, key, route]);
    const sums = this.#groups.get(name) ?? new Sums([day, subscription, model, key, route]);
    this.#groups.set(name, sums);
    return sums;
  }

  rows(): readonly DayRow[] {
    return [...this.#groups.values()].map((sums) => sums.row());
  }
}
