/** Messages between the supervisor and its gateway processes. */
import type { AdminReply, AdminRequest } from '../admin/route.ts';
import type { MetricFamily } from '../metrics/exposition.ts';
import type { Welcome } from '../welcome.ts';

/** What a gateway knows of the welcome; the supervisor adds the rest. */
export type Greeting = Pick<
  Welcome,
  'url' | 'secret' | 'keyGiven' | 'page' | 'adminToken' | 'models' | 'chatModel'
>;

export type ToChild =
  /** Drain and exit; with `handOver` another process takes over the port. */
  | { readonly type: 'drain'; readonly handOver: boolean }
  | { readonly type: 'reload' }
  /** Two requests, so that metrics do not wait for the services that readiness checks. */
  | { readonly type: 'metrics' | 'readiness'; readonly number: number }
  | { readonly type: 'admin'; readonly number: number; readonly request: AdminRequest };

/** Milliseconds between heartbeats. */
export const heartbeatMs = 1_000;

export type FromChild =
  /** Its event loop runs. */
  | { readonly type: 'heartbeat' }
  /** It listens. */
  | { readonly type: 'ready'; readonly greeting: Greeting }
  | { readonly type: 'metrics'; readonly number: number; readonly families: readonly MetricFamily[] }
  | { readonly type: 'readiness'; readonly number: number; readonly unready: readonly string[] }
  | { readonly type: 'admin'; readonly number: number; readonly reply: AdminReply };
