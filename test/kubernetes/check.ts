/** Runs named checks one after the other, and collects how each ended. */

export interface CheckResult {
  readonly name: string;
  readonly seconds: number;
  readonly problem?: string;
}

export interface Checks {
  readonly results: readonly CheckResult[];
  /** A check that throws has failed; the others go on. */
  readonly check: (name: string, run: () => void | Promise<void>) => Promise<void>;
}

export const createChecks = (): Checks => {
  const results: CheckResult[] = [];
  return {
    results,
    check: async (name, run) => {
      const begun = performance.now();
      const problem = await Promise.resolve()
        .then(run)
        .then(
          () => undefined,
          (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
        );
      const seconds = (performance.now() - begun) / 1000;
      results.push({ name, seconds, ...(problem !== undefined && { problem }) });
      console.log(
        problem === undefined
          ? `  ok     ${name} (${seconds.toFixed(1)} s)`
          : `  not ok ${name}\n${problem.replace(/^/gm, '         ')}`,
      );
    },
  };
};
