/** What all requests of one edge share. */
import type { Logger } from 'pino';
import type { Indexed, IndexedList } from '../indexed-list.ts';
import type { RouteStats } from '../metrics/route-stats.ts';
import type { Keys } from '../ports/keys.ts';
import type { Tracing } from '../ports/trace.ts';
import type { EdgeLimits } from './limits.ts';
import type { RouteTable } from './route-table.ts';

export interface EdgeCore {
  readonly routes: RouteTable;
  /** Answers to paths and methods that no route has. */
  readonly unrouted: RouteStats;
  readonly cuts: Record<CutReason, number>;
  readonly keys: Keys;
  readonly log: Logger;
  readonly limits: EdgeLimits;
  /** Undefined: requests are not recorded. */
  readonly tracing: Tracing | undefined;
  readonly nextId: () => string;
  /** Requests whose pipeline still runs, or whose response is not yet with the operating system. */
  readonly open: IndexedList<OpenResponse>;
  /** Milliseconds, brought up to date by the edge's one timer: exact enough for time-outs, free to read. */
  now: number;
  /** Whether requests are logged, looked up as often as the time is. */
  logging: boolean;
  draining: boolean;
  /** Called when `open` becomes empty while draining. */
  drained: () => void;
}

/** Why an answer did not come to its end. */
export type CutReason = 'client left' | 'reader stalled' | 'failed' | 'shutting down';

export interface OpenResponse extends Indexed {
  /** Its reader is behind. */
  readonly full: boolean;
  /** Bytes kept for its reader, and of the request's body as far as it has come. */
  readonly bufferedReply: number;
  readonly bufferedBody: number;
  /** Looks for what has taken too long and for streams that need a keep-alive comment. */
  tick(): void;
  /** The grace time is over. */
  shutDown(): void;
}
