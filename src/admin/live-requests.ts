/** Requests that run: those with a client, and resumable streams that run without one. */
import type { LiveRequests } from '../ports/live.ts';
import type { Streams } from '../ports/streams.ts';

export const withDetachedStreams = (edge: LiveRequests, streams: Pick<Streams, 'running'>): LiveRequests => ({
  list: () => {
    const open = edge.list();
    const ids = new Set(open.map(({ id }) => id));
    return [
      ...open,
      ...streams
        .running()
        .map((source) => source.live())
        .filter(({ id }) => !ids.has(id)),
    ];
  },
  cancel: (id, error) => {
    if (edge.cancel(id, error)) return true;
    const source = streams.running().find((each) => each.live().id === id);
    source?.fail(error);
    return source !== undefined;
  },
  recent: (after) => edge.recent(after),
});
