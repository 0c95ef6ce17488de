/** Parses the TAP output of a test process: counts, failures, or why it is invalid. */

export interface Verdict {
  readonly passed: number;
  readonly skipped: number;
  /** Lines that explain the failure; none on success. */
  readonly complaints: readonly string[];
}

const result = /^( *)(not )?ok\b/;
const subtest = /^ *# Subtest/;
const excused = /# (?:SKIP|TODO)/i;
const plan = /^1\.\.(\d+)/;

/** `ending` is the exit code, or how the process was ended. */
export const judge = (output: string, ending: number | string): Verdict => {
  const lines = output.split('\n');
  let passed = 0;
  let skipped = 0;
  let suites = 0;
  let planned: number | undefined;
  let failing = false;
  const complaints: string[] = [];
  for (const line of lines) {
    const [, indent, not] = result.exec(line) ?? [];
    if (indent !== undefined) {
      if (indent === '') suites += 1;
      failing = not !== undefined && !excused.test(line);
      if (excused.test(line)) skipped += 1;
      else if (not === undefined) passed += 1;
    } else if (subtest.test(line)) failing = false;
    planned ??= plan.test(line) ? Number(plan.exec(line)?.[1]) : undefined;
    if (failing && line.trim() !== '') complaints.push(line);
  }
  if (ending !== 0 && complaints.length === 0) complaints.push(...lines.slice(-40));
  if (ending !== 0) complaints.push(`ended with ${ending}`);
  if (planned === undefined) complaints.push('ended before it was through');
  else if (planned !== suites) complaints.push(`${planned} tests were announced, ${suites} were run`);
  return { passed, skipped, complaints };
};
