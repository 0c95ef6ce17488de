/** Every time-out and limit of the HTTP edge, and their defaults. */

export interface EdgeLimits {
  /** Time a client has to send a request's head. uWebSockets.js has 10 s of its own and takes no other value. */
  readonly headerMs: number;
  /** Bytes of request line and headers together. */
  readonly maxHeaderBytes: number;
  /** Longest silence while a request body arrives. */
  readonly bodyIdleMs: number;
  /** Slowest average rate of a body, in every interval of `bodyIdleMs`. */
  readonly bodyMinBytesPerSecond: number;
  /** Time in which a body that takes part of the memory for bodies has to be complete. */
  readonly bodyTotalMs: number;
  /** Memory for bodies of requests that are not admitted yet, in all and per subscription; at least one largest body. */
  readonly bodyBytes: number;
  readonly bodyBytesPerSubscription: number;
  /** Time a body may wait for memory. */
  readonly bodyWaitMs: number;
  /** Time an unused connection is kept. uWebSockets.js has 10 s of its own and takes no other value. */
  readonly idleConnectionMs: number;
  /** Silence of a stream after which its keep-alive comment is written. */
  readonly keepAliveMs: number;
  /** Time a client may leave its socket full before it is disconnected. */
  readonly stalledReaderMs: number;
  /** Bytes of one response that may wait in this process for a slow reader before its source is paused. */
  readonly maxBufferedBytes: number;
  /** Time a connection is still read after an early response, so that the client sees the response and not a reset. */
  readonly lingerMs: number;
  /** Precision of all the above: one timer of this period serves every connection. */
  readonly tickMs: number;
}

export const defaultEdgeLimits: EdgeLimits = {
  headerMs: 10_000,
  maxHeaderBytes: 16 * 1024,
  bodyIdleMs: 20_000,
  bodyMinBytesPerSecond: 1024,
  bodyTotalMs: 10 * 60_000,
  bodyBytes: 512 * 1024 * 1024,
  bodyBytesPerSubscription: 128 * 1024 * 1024,
  bodyWaitMs: 20_000,
  idleConnectionMs: 10_000,
  keepAliveMs: 10_000,
  stalledReaderMs: 60_000,
  maxBufferedBytes: 64 * 1024,
  lingerMs: 2_000,
  tickMs: 1_000,
};
