/** Writes header lines that say how a request was served, and how many more its limit allows. */
import type { ErrorDialect, LimitWindow } from '../errors.ts';
import type { Served } from '../ports/served.ts';

/** `limits`: only the headers of rate limits; `all`: those of `x-sluice-` too. */
export type ResponseHeaders = 'all' | 'limits' | 'off';

/** Each line begins with its break; empty where nothing is known. */
export const servedLines = (served: Served, dialect: ErrorDialect, which: ResponseHeaders): string => {
  const window = served.lease.window?.();
  const limits = window === undefined ? '' : windowLines(window, dialect);
  return which === 'all' ? sluiceLines(served) + limits : limits;
};

/** An engine inside the gateway has no replicas, and cannot be told apart from the gateway. */
const sluiceLines = ({ lease, attempts, replica, queuedMs, engineMs, overheadMs, usage }: Served): string => {
  let lines = `\r\nx-sluice-queue-ms: ${tenths(lease.waited + queuedMs)}`;
  if (attempts > 0) lines += `\r\nx-sluice-replica: ${replica}\r\nx-sluice-attempts: ${attempts}`;
  if (engineMs >= 0) lines += `\r\nx-sluice-engine-ms: ${tenths(engineMs)}`;
  if (attempts > 0 && overheadMs >= 0) lines += `\r\nx-sluice-overhead-ms: ${tenths(overheadMs)}`;
  if (usage !== undefined && usage.quantities.prompt_tokens > 0)
    lines += `\r\nx-sluice-cached-tokens: ${usage.quantities.cached_tokens}`;
  return lines;
};

/** With one digit after the point; whole numbers are written faster than others. */
const tenths = (milliseconds: number): string => {
  const count = Math.round(milliseconds * 10);
  const whole = Math.floor(count / 10);
  return `${whole}.${count - whole * 10}`;
};

/** Names and notations of the vendors whose formats these are. */
export const windowLines = ({ limit, remaining, resetMs }: LimitWindow, dialect: ErrorDialect): string => {
  const seconds = resetMs === undefined ? undefined : Math.ceil(resetMs / 1000);
  if (dialect === 'messages')
    return (
      `\r\nanthropic-ratelimit-requests-limit: ${limit}\r\nanthropic-ratelimit-requests-remaining: ${remaining}` +
      (seconds === undefined ? '' : `\r\nanthropic-ratelimit-requests-reset: ${timeIn(seconds)}`)
    );
  return (
    `\r\nx-ratelimit-limit-requests: ${limit}\r\nx-ratelimit-remaining-requests: ${remaining}` +
    (seconds === undefined ? '' : `\r\nx-ratelimit-reset-requests: ${duration(seconds)}`)
  );
};

/** `45s`, `1m0s`. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;

let second = 0;
let time = '';

/** Of the same second for many responses. */
const timeIn = (seconds: number): string => {
  const at = Math.ceil(Date.now() / 1000) + seconds;
  if (at !== second) {
    second = at;
    time = `${new Date(at * 1000).toISOString().slice(0, 19)}Z`;
  }
  return time;
};
