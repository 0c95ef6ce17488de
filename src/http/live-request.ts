/** The open requests of the edge, described and cancelled on demand. */
import { type LiveRequest, type LiveRequests, servedSoFar } from '../ports/live.ts';
import type { EdgeCore } from './edge-core.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { Phase } from './reply-writer.ts';

export const liveRequests = (core: EdgeCore): LiveRequests => ({
  list: () => [...core.open].flatMap((response) => response.live() ?? []),
  cancel: (id, error) => {
    for (const response of core.open)
      if (response.requestId === id && response.live() !== undefined) {
        response.cancel(error);
        return true;
      }
    return false;
  },
  recent: (after) => core.recent.after(after),
});

/** What the writer of its response knows of it. */
interface Written {
  readonly begun: number;
  readonly headAt: number;
  readonly phase: Phase;
  readonly full: boolean;
  readonly bufferedReply: number;
}

export const liveRequest = (exchange: HttpExchange, written: Written): LiveRequest => {
  const { id, method, route, served, queuedFor, received, caller } = exchange;
  const { begun, headAt, phase } = written;
  const now = performance.now();
  const waiting = served === undefined && queuedFor !== undefined;
  return {
    ...{ id, method, route: route?.path ?? null, state: stateOf(exchange, phase) },
    subscription: caller?.subscription ?? null,
    key: caller?.key ?? null,
    age_ms: Math.round(now - begun),
    ...servedSoFar(served, { begun, received, headAt }),
    ...(waiting && { model: queuedFor, queue_ms: Math.round(now - (received || begun)) }),
    ...{ slow_reader: written.full, unread_bytes: written.bufferedReply },
  };
};

const stateOf = ({ served, queuedFor }: HttpExchange, phase: Phase): LiveRequest['state'] => {
  if (phase !== 'waiting') return 'streaming';
  if (served !== undefined) return 'running';
  return queuedFor === undefined ? 'receiving' : 'queued';
};
