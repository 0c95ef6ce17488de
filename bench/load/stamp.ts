/** Times that travel in the text of a token: how long it took from the engine to the client. */

const mark = '~';
const digits = 15;

/** Of the machine's monotonic clock, the same in every process. */
export const microseconds = (): number => Number(process.hrtime.bigint() / 1000n);

/** The text of a token: when it was sent. */
export const stamp = (): string => mark + String(microseconds()).padStart(digits, '0');

/** Milliseconds since the last stamp of a read; undefined if it has none, or a part of one. */
export const sinceStamp = (read: string, now: number): number | undefined => {
  const at = read.lastIndexOf(mark);
  const text = at < 0 ? '' : read.slice(at + 1, at + 1 + digits);
  return /^\d{15}$/.test(text) ? (now - Number(text)) / 1000 : undefined;
};
