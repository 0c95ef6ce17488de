/** The expected error envelope of every route except messages, and as the openai client throws it. */
import type { Test } from 'tap';
import { thrownBy } from './thrown-by.ts';

/** The field that a message of ours begins with: sentences have a capital letter, headers a hyphen. */
export const namedField = (status: number, message: string): string | null => {
  const [, field = null] = /^([a-z_][^ :-]*(?:\["[^"]*"\])*):? /.exec(message) ?? [];
  return [400, 413, 422].includes(status) ? field : null;
};

export const envelope = <Message extends string | RegExp>(
  code: number,
  message: Message,
  type: string,
  errorType: string,
) => ({
  error: {
    code,
    message,
    type,
    ...(typeof message === 'string' && { param: namedField(code, message) }),
    metadata: { error_type: errorType },
  },
});

/** A call that fails, the class of what it throws, and what that has. */
export type Failure = readonly [call: () => PromiseLike<unknown>, kind: unknown, shape: object];

export const thrownAs = (status: number, message: string | RegExp, type: string, errorType: string) => ({
  status,
  ...envelope(status, message, type, errorType),
});

export const testFailures = async (t: Test, failures: readonly Failure[]): Promise<void> => {
  for (const [call, kind, shape] of failures) {
    const error: unknown = await thrownBy(call());
    t.ok(typeof kind === 'function' && error instanceof kind, String(error));
    t.match(error, shape);
  }
};
