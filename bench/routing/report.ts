/** Prints the results of the routing bench as tables. */
import type { ChoiceCost } from './choice-cost.ts';

export interface Row {
  readonly workload: string;
  readonly subject: string;
  /** Prompt tokens that engines had in their cache. */
  readonly hitRate: number;
  /** Milliseconds to the first token. */
  readonly p50: number;
  readonly p99: number;
  /** Requests of the busiest replica, in means. */
  readonly imbalance: number;
  readonly requests: number;
  readonly failures: number;
}

export const printRows = (rows: readonly Row[]): void => {
  for (const workload of new Set(rows.map((row) => row.workload))) {
    console.log(`\n| ${workload} | hit rate | p50 | p99 | imbalance | requests |`);
    console.log('|---|---|---|---|---|---|');
    for (const row of rows.filter((each) => each.workload === workload)) console.log(line(row));
  }
  console.log();
};

export const printChoice = (costs: readonly ChoiceCost[]): void => {
  for (const { messages, tokens, nanoseconds } of costs)
    console.log(
      `choosing for ${tokens} tokens in ${messages} messages: ${(nanoseconds / 1000).toFixed(2)} µs`,
    );
};

const line = ({ subject, hitRate, p50, p99, imbalance, requests, failures }: Row): string => {
  const times = `${p50.toFixed(0)} ms | ${p99.toFixed(0)} ms`;
  const count = failures === 0 ? requests : `${requests}, ${failures} failed`;
  return `| ${subject} | ${(100 * hitRate).toFixed(1)} % | ${times} | ${imbalance.toFixed(2)} | ${count} |`;
};
