/** What every stream of server-sent events begins with; the keep-alive is the dialect's own. */
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
