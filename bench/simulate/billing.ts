/** Usage events on their way: Kafka's partitions by subscription, consumers, inserts into ClickHouse. */
import type { Plan } from './plan.ts';

/** As the product's consumers fetch. */
const [fetchBytes, fetchMs, mostBytes] = [1024 * 1024, 500, 4 * 1024 * 1024];

export class Billing {
  /** By partition: events so far, and those that are not in the ledger yet. */
  readonly events: Float64Array;
  readonly backlog: Float64Array;
  inserts = 0;
  rows = 0;
  readonly #plan: Plan;
  readonly #busyUntil: Float64Array;
  readonly #fetchedAt: Float64Array;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.events = new Float64Array(plan.kafkaPartitions);
    this.backlog = new Float64Array(plan.kafkaPartitions);
    this.#busyUntil = new Float64Array(plan.consumers);
    this.#fetchedAt = new Float64Array(plan.consumers);
  }

  get lag(): number {
    return this.backlog.reduce((sum, count) => sum + count, 0);
  }

  publish(partition: number): void {
    this.events[partition] = (this.events[partition] ?? 0) + 1;
    this.backlog[partition] = (this.backlog[partition] ?? 0) + 1;
  }

  /** Consumers that are free take a batch of each of their partitions, when there is enough or it has waited. */
  tick(now: number): void {
    const { consumers, kafkaPartitions, coefficients } = this.#plan;
    for (let consumer = 0; consumer < consumers; consumer++) {
      if ((this.#busyUntil[consumer] ?? 0) > now) continue;
      let waiting = 0;
      for (let at = consumer; at < kafkaPartitions; at += consumers) waiting += this.backlog[at] ?? 0;
      const waited = now - (this.#fetchedAt[consumer] ?? 0);
      if (waiting === 0 || (waiting * coefficients.eventBytes < fetchBytes && waited < fetchMs)) continue;
      let taken = 0;
      for (let at = consumer; at < kafkaPartitions; at += consumers) {
        const batch = Math.min(this.backlog[at] ?? 0, Math.floor(mostBytes / coefficients.eventBytes));
        if (batch === 0) continue;
        this.backlog[at] = (this.backlog[at] ?? 0) - batch;
        taken += batch;
        this.inserts++;
      }
      this.rows += taken;
      this.#fetchedAt[consumer] = now;
      this.#busyUntil[consumer] = now + (1000 * taken) / coefficients.consumerRate;
    }
  }
}
