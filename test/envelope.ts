/** The expected error envelope of every route except messages, and as the openai client throws it. */
import type { Test } from 'tap';
import { thrownBy } from './thrown-by.ts';

export const envelope = <Message extends string | RegExp>(
  code: number,
  message: Message,
  type: string,
  errorType: string,
) => ({
  error: { code, message, type, param: null, metadata: { error_type: errorType } },
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
