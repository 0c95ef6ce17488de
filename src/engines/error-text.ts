/** The reason of a failure in one short line, for operators. */

const longestText = 300;

/** A refused connection to a name with several addresses has its reason inside. */
export const errorText = (error: unknown): string => {
  const inner = error instanceof AggregateError && error.message === '' ? error.errors[0] : error;
  const text = inner instanceof Error ? inner.message : String(inner);
  return (text.split('\n', 1)[0] ?? '').slice(0, longestText);
};
