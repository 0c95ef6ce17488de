/** Splits the time of a request into what it was spent on. */
import type { LiveRow } from '../../../../../schemas/admin/live.ts';
import type { LogEntry, Timeline } from '../../../../../schemas/admin/requests.ts';

export type Shown = LiveRow | LogEntry;

export const isRunning = (request: Shown): request is LiveRow => request.object === 'request';

/** Milliseconds up to now, or to its end. */
export const totalOf = (request: Shown): number =>
  isRunning(request) ? request.age_ms : Math.max(request.total_ms, request.timeline.last_byte ?? 0);

export type Phase = 'receive' | 'queue' | 'wait' | 'stream';

export const phaseNames: Readonly<Record<Phase, string>> = {
  receive: 'body',
  queue: 'queue',
  wait: 'until the first token',
  stream: 'stream',
};

/** Milliseconds of each phase so far. */
export const phasesOf = (request: Shown): Readonly<Record<Phase, number>> => {
  const { timeline } = request;
  const total = totalOf(request);
  const state = isRunning(request) ? request.state : 'ended';
  const upTo = (at: number, from: number): number => Math.min(total, Math.max(from, at));
  const parsed = upTo(timeline.parsed ?? (state === 'receiving' ? total : 0), 0);
  const admitted = upTo(timeline.admitted ?? (state === 'queued' ? total : parsed), parsed);
  const begun = timeline.first_token ?? (state === 'running' ? null : timeline.first_byte);
  const first = upTo(begun ?? total, admitted);
  return { receive: parsed, queue: admitted - parsed, wait: first - admitted, stream: total - first };
};

/** What leads to a moment of the timeline. */
const steps: Readonly<Record<Exclude<keyof Timeline, 'received'>, string>> = {
  parsed: 'Body received',
  admitted: 'Admitted',
  engine_called: 'Engine called',
  engine_answered: 'Engine answered',
  first_byte: 'First byte sent',
  first_token: 'First token',
  billed: 'Billed',
  last_byte: 'Last byte sent',
};

const going: Readonly<Record<LiveRow['state'], string>> = {
  receiving: 'Receiving the body …',
  queued: 'In the queue …',
  running: 'Waiting for the engine …',
  streaming: 'Streaming …',
};

export interface Segment {
  readonly name: string;
  /** Milliseconds since the head was received. */
  readonly from: number;
  readonly to: number;
}

/** One after the other; the last one of a request that runs has no end yet. */
export const segmentsOf = (request: Shown): readonly Segment[] => {
  const moments = Object.entries(steps)
    .map(([field, name]) => ({ name, at: request.timeline[field as keyof Timeline] }))
    .filter((moment): moment is { name: string; at: number } => moment.at !== null)
    .sort((a, b) => a.at - b.at);
  if (isRunning(request)) moments.push({ name: going[request.state], at: totalOf(request) });
  let from = 0;
  let isBegun = false;
  return moments.map(({ name, at }) => {
    const isEnd = name === steps.billed || name === steps.last_byte;
    const segment = {
      name: isBegun && isEnd ? `${name}, after the stream` : name,
      from,
      to: Math.max(from, at),
    };
    from = segment.to;
    isBegun = name === steps.first_byte || name === steps.first_token;
    return segment;
  });
};
