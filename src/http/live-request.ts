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

export const liveRequest = (exchange: HttpExchange, begun: number, phase: Phase): LiveRequest => {
  const { id, method, route, served, queuedFor, received, caller } = exchange;
  const now = performance.now();
  const soFar = servedSoFar(served);
  const waiting = served === undefined && queuedFor !== undefined;
  return {
    ...{ id, method, route: route?.path ?? null, state: stateOf(exchange, phase) },
    subscription: caller?.subscription ?? null,
    key: caller?.key ?? null,
    age_ms: Math.round(now - begun),
    ...soFar,
    ...(waiting && { model: queuedFor, queue_ms: Math.round(now - (received || begun)) }),
  };
};

const stateOf = ({ served, queuedFor }: HttpExchange, phase: Phase): LiveRequest['state'] => {
  if (phase !== 'waiting') return 'streaming';
  if (served !== undefined) return 'running';
  return queuedFor === undefined ? 'receiving' : 'queued';
};
