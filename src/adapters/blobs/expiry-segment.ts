/** A time in; the stretch of time that its marker is filed under out, so that a sweep looks at nothing that is not due. */

const length = 10 * 60_000;

/** One ahead, whatever the time, so that no sweep is at work there while the marker is written. */
export const stretchOf = (expiresAt: number): string =>
  String(Math.floor(Math.max(expiresAt, Date.now()) / length) + 2);

export const isDue = (stretch: string, now: number): boolean => {
  const time = Number(stretch);
  return Number.isInteger(time) && time * length <= now;
};
