/** Makes the head of a server-sent event stream; the keep-alive differs by dialect. */
import type { Head } from '../../src/ports/exchange.ts';

export const streamHead = (keepAlive: string): Head => ({
  kind: 'head',
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  },
  keepAlive,
});
