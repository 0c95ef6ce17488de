/** Writes header lines that say how a request was served, and how many more its limit allows. */
import type { ErrorDialect, LimitWindow } from '../errors.ts';
import { remembered } from '../helpers/remembered.ts';
import type { Served } from '../ports/served.ts';

/** `limits`: only the headers of rate limits; `all`: those of `x-sluice-` too. */
export type ResponseHeaders = 'all' | 'limits' | 'off';

interface Response {
  readonly served: Served;
  /** By a limit of its key, or on tokens: reported in place of what was known when it was admitted. */
  readonly refusedBy: LimitWindow | undefined;
  readonly dialect: ErrorDialect;
  readonly which: ResponseHeaders;
  /** Of `performance.now`. */
  readonly now: number;
}

/**
 * Each line begins with its break; empty where nothing is known. Whole lines are remembered, because the text is
 * flattened when it is written, which takes as long as it has pieces.
 */
export const servedLines = ({ served, refusedBy, dialect, which, now }: Response): string => {
  let requests = served.lease.window;
  let tokens = served.holder.quota?.tokens;
  if (refusedBy?.unit === 'tokens') tokens = refusedBy;
  else if (refusedBy !== undefined) requests = refusedBy;
  let lines = which === 'all' ? sluiceLines(served) : '';
  if (requests !== undefined) lines += windowLines(requests, dialect, now);
  if (tokens !== undefined) lines += windowLines(tokens, dialect, now);
  return lines;
};

/** An engine inside the gateway has no replicas, and its time is not separate from the gateway's. */
const sluiceLines = (served: Served): string => {
  const { attempts, replica, engineMs, overheadMs, usage } = served;
  let lines = queueLine(tenths(served.lease.waited + served.queuedMs));
  if (attempts > 0) lines += attempts === 1 ? onlyReplica(replica) : replicaLines(replica, attempts);
  if (engineMs >= 0) lines += engineLine(tenths(engineMs));
  if (attempts > 0 && overheadMs >= 0) lines += overheadLine(tenths(overheadMs));
  if (usage !== undefined && usage.quantities.prompt_tokens > 0)
    lines += cachedLine(usage.quantities.cached_tokens);
  return lines;
};

/** Names and notations of the vendors whose formats these are. */
export const windowLines = (
  { unit = 'requests', limit, remaining, resetAt }: LimitWindow,
  dialect: ErrorDialect,
  now: number,
): string => {
  const seconds = resetAt === undefined ? undefined : Math.max(0, Math.ceil((resetAt - now) / 1000));
  const lines = (dialect === 'messages' ? messagesLines : openaiLines)[unit];
  return (
    lines.limit(limit) + lines.remaining(remaining) + (seconds === undefined ? '' : lines.reset(seconds))
  );
};

/** A line for each of the first numbers; others are made each time. */
const numberLine = (
  name: string,
  most: number,
  text: (value: number) => string = String,
): ((value: number) => string) => {
  const known = new Array<string | undefined>(most);
  const make = (value: number): string => ['\r\n', name, ': ', text(value)].join('');
  return (value) => {
    if (value >= most) return make(value);
    const line = known[value] ?? make(value);
    known[value] = line;
    return line;
  };
};

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10);
const decimal = (count: number): string => (count / 10).toFixed(1);
/** `45s`, `1m0s`. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;

const queueLine = numberLine('x-sluice-queue-ms', 1000, decimal);
const engineLine = numberLine('x-sluice-engine-ms', 5000, decimal);
const overheadLine = numberLine('x-sluice-overhead-ms', 1000, decimal);
const cachedLine = numberLine('x-sluice-cached-tokens', 5000);

type Unit = 'requests' | 'tokens';

const linesOf = (unit: Unit) => ({
  limit: numberLine(`x-ratelimit-limit-${unit}`, 5000),
  remaining: numberLine(`x-ratelimit-remaining-${unit}`, 5000),
  reset: numberLine(`x-ratelimit-reset-${unit}`, 120, duration),
});

const messagesLinesOf = (unit: Unit) => ({
  limit: numberLine(`anthropic-ratelimit-${unit}-limit`, 5000),
  remaining: numberLine(`anthropic-ratelimit-${unit}-remaining`, 5000),
  reset: (seconds: number): string => `\r\nanthropic-ratelimit-${unit}-reset: ${timeIn(seconds)}`,
});

const openaiLines = { requests: linesOf('requests'), tokens: linesOf('tokens') };
const messagesLines = { requests: messagesLinesOf('requests'), tokens: messagesLinesOf('tokens') };

const replicaLines = (replica: string, attempts: number): string =>
  ['\r\nx-sluice-replica: ', replica, '\r\nx-sluice-attempts: ', attempts].join('');
const mostReplicas = 1000;
const onlyReplica = remembered<string, string>(mostReplicas, (replica) => replicaLines(replica, 1));

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
