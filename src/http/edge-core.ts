/** The state that all requests of one edge share. */
import type { Logger } from 'pino';
import type { ApiError } from '../errors.ts';
import type { Indexed, IndexedList } from '../helpers/indexed-list.ts';
import type { Networks } from '../helpers/networks.ts';
import type { RouteStats } from '../metrics/route-stats.ts';
import type { Keys } from '../ports/keys.ts';
import type { LiveRequest } from '../ports/live.ts';
import type { Tracing } from '../ports/trace.ts';
import type { BodyBudget } from './body/budget.ts';
import type { EdgeLimits } from './limits.ts';
import type { RecentRequests } from './recent-requests.ts';
import type { RouteTable } from './route-table.ts';
import type { ResponseHeaders } from './served-lines.ts';

export interface EdgeCore {
  readonly routes: RouteTable;
  /** Paths outside `/v1`, for browsers: only to be read. */
  readonly pages: RouteTable;
  /** Responses to paths and methods that have no route. */
  readonly unrouted: RouteStats;
  readonly cuts: Record<CutReason, number>;
  readonly keys: Keys;
  readonly log: Logger;
  readonly limits: EdgeLimits;
  readonly bodies: BodyBudget;
  /** Undefined: tracing is off. */
  readonly tracing: Tracing | undefined;
  readonly responseHeaders: ResponseHeaders;
  /** Proxies whose word is taken for where a request comes from; undefined: none. */
  readonly trustedProxies: Networks | undefined;
  readonly nextId: () => string;
  /** Requests whose pipeline still runs, or whose response is not yet with the operating system. */
  readonly open: IndexedList<OpenResponse>;
  /** Those that ended last. */
  readonly recent: RecentRequests;
  /** Milliseconds, updated by the edge's one timer: exact enough for time-outs, free to read. */
  now: number;
  /** Whether requests are logged, updated by the same timer. */
  logging: boolean;
  draining: boolean;
  /** Called when `open` becomes empty while draining. */
  drained: () => void;
}

/** Why a response was not sent to its end. */
export type CutReason = 'client disconnected' | 'client stalled' | 'failed' | 'cancelled' | 'shutdown';

export interface OpenResponse extends Indexed {
  /** Its socket is full. */
  readonly full: boolean;
  /** Bytes of the response that wait for the client, and of the request body so far. */
  readonly bufferedReply: number;
  readonly bufferedBody: number;
  /** Checks time-outs, and writes the keep-alive comments of silent streams. */
  tick(): void;
  /** The drain time is over. */
  shutDown(): void;
  /** As an operator sees it now; undefined: it is over. */
  live(): LiveRequest | undefined;
  readonly requestId: string;
  /** An operator ends it. */
  cancel(error: ApiError): void;
}
