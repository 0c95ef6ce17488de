/** One line of a check: what was tried, and whether the server fits. */

/** `note`: the gateway copes, but something could be better or should be said in the row. */
export type Verdict = 'fits' | 'note' | 'fails';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was seen, or why it does not fit. */
  readonly detail: string;
}

/** The check cannot run as it was asked for. */
export class InvalidOptions extends Error {
  override readonly name = 'InvalidOptions';
}

/** Thrown by a check that finds something short of a failure. */
export class Note extends Error {
  override readonly name = 'Note';
}

export const attempt = async (check: string, work: () => Promise<string>): Promise<Finding> => {
  try {
    return { check, verdict: 'fits', detail: await work() };
  } catch (error) {
    return { check, verdict: error instanceof Note ? 'note' : 'fails', detail: reasonOf(error) };
  }
};

/** The message and what is behind it: an operator may see both. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'The time of --timeout is over';
  const cause = error.cause === undefined ? '' : reasonOf(error.cause);
  // Both say the same where the engine's own sentence is the message.
  if (cause === '' || cause.includes(error.message)) return cause || error.message || codeOf(error);
  return error.message === '' ? cause : `${error.message}: ${cause}`;
};

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.name);
