/** What the framings of all routes share. */
import type { Exchange, Head } from '../../src/ports/exchange.ts';

/** What framing needs of an admitted request. */
export interface Framing<Task> {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: Task;
}

/** Ends the id of a response: the request's own id, so that a response leads to its log lines. */
export const responseKey = ({ id }: Pick<Exchange, 'id'>): string => id.slice(id.indexOf('_') + 1);

/** The head of a server-sent event stream; the keep-alive differs by format. */
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

export const eventStreamHead = streamHead(': keep-alive\n\n');
