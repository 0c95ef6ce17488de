/** Limits how long a promise is waited for. */

/** What the work gives, or what `late` gives or throws after its time. The work itself goes on, and may fail unseen. */
export const within = <T, Late>(
  milliseconds: number,
  work: Promise<T>,
  late: () => Late,
): Promise<T | Late> =>
  // A plain timer: one that is aborted costs an exception.
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
