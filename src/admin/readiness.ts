/** Says why a process should get no traffic, from checks of the services it needs. */
import { within } from '../helpers/within.ts';

/** Throws or rejects with a sentence when what it checks is not available. */
export type Check = () => unknown;
export type Checks = Readonly<Record<string, Check>>;

export interface Readiness {
  /** The process has started. */
  started(): void;
  /** The process is about to end: it is unready from now on. */
  stopping(): void;
  /** A sentence for each reason; empty: it is ready. */
  unready(): Promise<readonly string[]>;
}

const defaultTimeoutMs = 2_000;

export const createReadiness = (checks: Checks, timeoutMs = defaultTimeoutMs): Readiness => {
  let phase: 'starting' | 'running' | 'shutting down' = 'starting';
  const run = async ([name, check]: readonly [string, Check]): Promise<readonly string[]> => {
    try {
      await withTimeout(check, timeoutMs);
      return [];
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
  return {
    started: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'shutting down';
    },
    unready: async () => {
      const reasons = await Promise.all(Object.entries(checks).map(run));
      return [...(phase === 'running' ? [] : [`process: ${phase}`]), ...reasons.flat()];
    },
  };
};

const withTimeout = async (check: Check, timeoutMs: number): Promise<unknown> =>
  within(timeoutMs, Promise.resolve(check()), () => {
    throw new Error(`no answer for ${timeoutMs} ms`);
  });
