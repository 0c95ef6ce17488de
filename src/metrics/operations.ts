/** Counts billable operations by route and model: outcomes, tokens, cost, durations. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Sample } from './exposition.ts';
import { Histogram } from './histogram.ts';

/** Pairs of route and model with labels of their own; the rest is counted as `other`. */
const maxPairs = 500;

interface Stats {
  readonly labels: { readonly route: string; readonly model: string };
  readonly outcomes: Record<UsageEvent['outcome'], number>;
  readonly tokens: { prompt: number; cached: number; completion: number; reasoning: number };
  cost: number;
  readonly queued: Histogram;
  readonly firstToken: Histogram;
  readonly total: Histogram;
}

export class Operations {
  readonly #models = new Map<string, Map<string, Stats>>();
  #pairs = 0;

  add(event: UsageEvent): void {
    const stats = this.#statsOf(event.route, event.model);
    stats.outcomes[event.outcome]++;
    const { quantities } = event;
    stats.tokens.prompt += quantities.prompt_tokens;
    stats.tokens.cached += quantities.cached_tokens;
    stats.tokens.completion += quantities.completion_tokens;
    stats.tokens.reasoning += quantities.reasoning_tokens;
    if (event.outcome !== 'failed') stats.cost += Number(event.cost);
    stats.queued.observe(event.queued_ms);
    if (event.first_token_ms !== null) stats.firstToken.observe(event.first_token_ms);
    stats.total.observe(event.total_ms);
  }

  ended(): readonly Sample[] {
    return this.#all().flatMap(({ labels, outcomes }) =>
      Object.entries(outcomes).map(([outcome, value]) => ({ labels: { ...labels, outcome }, value })),
    );
  }

  tokens(): readonly Sample[] {
    return this.#all().flatMap(({ labels, tokens }) =>
      Object.entries(tokens).map(([kind, value]) => ({ labels: { ...labels, kind }, value })),
    );
  }

  completionTokens(): ReadonlyMap<string, number> {
    const byModel = new Map<string, number>();
    for (const { labels, tokens } of this.#all())
      byModel.set(labels.model, (byModel.get(labels.model) ?? 0) + tokens.completion);
    return byModel;
  }

  costs(): readonly Sample[] {
    return this.#all().map(({ labels, cost }) => ({ labels, value: cost }));
  }

  histogram(name: string, which: 'queued' | 'firstToken' | 'total'): readonly Sample[] {
    return this.#all().flatMap((stats) => stats[which].samples(name, stats.labels));
  }

  #all(): readonly Stats[] {
    return [...this.#models.values()].flatMap((routes) => [...routes.values()]);
  }

  #statsOf(route: string, model: string): Stats {
    let routes = this.#models.get(model);
    const known = routes?.get(route);
    if (known !== undefined) return known;
    if (this.#pairs >= maxPairs && model !== 'other') return this.#statsOf('other', 'other');
    if (routes === undefined) {
      routes = new Map();
      this.#models.set(model, routes);
    }
    const stats: Stats = {
      labels: { route, model },
      outcomes: { completed: 0, failed: 0, cancelled: 0 },
      tokens: { prompt: 0, cached: 0, completion: 0, reasoning: 0 },
      cost: 0,
      queued: new Histogram(),
      firstToken: new Histogram(),
      total: new Histogram(),
    };
    this.#pairs++;
    routes.set(route, stats);
    return stats;
  }
}
