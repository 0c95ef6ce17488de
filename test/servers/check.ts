/** What the checks of one running server get, and how they report. */
import OpenAI from 'openai';
import type { CheckResult } from '../clients/client.ts';
import type { Gateway } from '../clients/gateway.ts';
import type { RunningReplica } from './replica.ts';
import type { ModelServer } from './server.ts';

export interface Bench {
  readonly server: ModelServer;
  readonly gateway: Gateway;
  /** The OpenAI SDK at the gateway; it repeats nothing. */
  readonly client: OpenAI;
  /** The same at the first replica, around the gateway. */
  readonly direct: OpenAI;
  readonly writers: readonly RunningReplica[];
  readonly search: RunningReplica;
  check(name: string, run: () => Promise<void>): Promise<void>;
}

export const openBench = (
  place: Omit<Bench, 'client' | 'direct' | 'check'>,
  results: CheckResult[],
): Bench => {
  const [first] = place.writers;
  if (first === undefined) throw new Error('no replica');
  const sdk = (origin: string, key: string) =>
    new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, timeout: 120_000 });
  return {
    ...place,
    client: sdk(place.gateway.origin, place.gateway.key),
    direct: sdk(first.origin, first.key),
    async check(name, run) {
      const begun = performance.now();
      const problem = await run().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
      );
      results.push({ name, seconds: (performance.now() - begun) / 1000, problem });
    },
  };
};
