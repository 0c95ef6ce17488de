/** Converts durations of the configuration (`500ms`, `2s`, `10m`) to milliseconds. */
import type { Duration } from '../../schemas/engines.ts';

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

export const milliseconds = (duration: Duration): number => {
  const match = /^([0-9.]+)(ms|s|m|h)$/.exec(duration);
  const unit = match?.[2];
  if (unit !== 'ms' && unit !== 's' && unit !== 'm' && unit !== 'h') {
    throw new RangeError(`"${duration}" is no duration: write 500ms, 2s, 10m or 1h`);
  }
  return Math.round(Number(match?.[1]) * units[unit]);
};

export const longest = (one: Duration, other: Duration): Duration =>
  milliseconds(one) > milliseconds(other) ? one : other;
