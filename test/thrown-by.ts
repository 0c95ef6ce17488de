/** Returns what a failing call threw. */

export const thrownBy = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
};
