/** `/live`: all that runs at one moment. Clients get it as events, with rates (`live.ts`). */
import {
  fastestMs,
  type LiveCounts,
  type LivePart,
  LiveQuery,
  LiveSnapshot,
  mostShown,
  slowestMs,
} from '../../../schemas/admin/live.ts';
import { fail } from '../../errors.ts';
import type { LiveRequest } from '../../ports/live.ts';
import { merging } from '../combine.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';
import { mergedEngines, shownEngines } from './engines.ts';
import { cursorOf, placeOf, shownEnd } from './logs.ts';
import { shownRequest } from './requests.ts';

type Counted = LivePart['models'][number];

const noCounts: LiveCounts = { receiving: 0, queued: 0, running: 0, streaming: 0, slow_readers: 0 };

const count = (counts: LiveCounts, { state, slow_reader }: LiveRequest): void => {
  counts[state]++;
  if (slow_reader) counts.slow_readers++;
};

/** Tokens of those that are recorded already are among those of their model. */
const byModel = (
  { tokens }: AdminParts,
  running: readonly LiveRequest[],
  engines: ReadonlyMap<string, string>,
): readonly Counted[] => {
  const found = new Map<string, Counted>();
  const of = (id: string): Counted => {
    const known = found.get(id) ?? { id, engine: engines.get(id) ?? null, ...noCounts, tokens: 0 };
    found.set(id, known);
    return known;
  };
  for (const [id, generated] of tokens()) of(id).tokens = generated;
  for (const request of running) {
    if (request.model === null) continue;
    const model = of(request.model);
    count(model, request);
    if (request.timeline.billed === null) model.tokens += request.completion_tokens;
  }
  return [...found.values()];
};

const newestFirst = (a: { readonly age_ms: number }, b: { readonly age_ms: number }): number =>
  a.age_ms - b.age_ms;

/** Without `after` it is the first look: what ended before is of no interest. */
const partOf = (parts: AdminParts, after: string | null): LivePart => {
  const engines = new Map(parts.models().map(({ id, engine }) => [id, engine]));
  const running = parts.requests.list();
  const counts = { ...noCounts };
  for (const request of running) count(counts, request);
  const place = after === null ? Number.POSITIVE_INFINITY : placeOf(after);
  const recent = parts.requests.recent(place);
  return {
    ...{ time: Date.now(), processes: 1, counts },
    models: [...byModel(parts, running, engines)],
    engines: [...shownEngines(parts)],
    requests: running
      .toSorted(newestFirst)
      .slice(0, mostShown)
      .map((request) => shownRequest(request, engines)),
    ended: recent.ended.slice(-mostShown).map(shownEnd),
    ended_count: Math.max(0, recent.count - place),
    cursor: cursorOf(recent.count),
  };
};

const sumCounts = (all: readonly LiveCounts[]): LiveCounts => {
  const sum = { ...noCounts };
  for (const counts of all)
    for (const name of Object.keys(noCounts) as (keyof LiveCounts)[]) sum[name] += counts[name];
  return sum;
};

const mergedModels = (all: readonly Counted[]): Counted[] => {
  const ids = [...new Set(all.map(({ id }) => id))];
  return ids.map((id) => {
    const same = all.filter((model) => model.id === id);
    const engine = same.find((model) => model.engine !== null)?.engine ?? null;
    return { id, engine, ...sumCounts(same), tokens: same.reduce((sum, { tokens }) => sum + tokens, 0) };
  });
};

export const mergedParts = (all: readonly LivePart[]): LivePart => ({
  time: Math.max(...all.map(({ time }) => time)),
  processes: all.reduce((sum, { processes }) => sum + processes, 0),
  counts: sumCounts(all.map(({ counts }) => counts)),
  models: mergedModels(all.flatMap(({ models }) => models)),
  engines: mergedEngines(all.map(({ engines }) => engines)),
  requests: all
    .flatMap(({ requests }) => requests)
    .toSorted(newestFirst)
    .slice(0, mostShown),
  ended: all
    .flatMap(({ ended }) => ended)
    .toSorted((a, b) => a.time - b.time)
    .slice(-mostShown),
  ended_count: all.reduce((sum, { ended_count }) => sum + ended_count, 0),
  cursor: all.map(({ cursor }) => cursor).join(','),
});

/** Throws 400. */
export const readInterval = (query: URLSearchParams): number => {
  const text = query.get('interval') ?? '1000';
  const interval = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (interval < fastestMs || interval > slowestMs)
    throw fail('invalid_request', `interval must be an integer from ${fastestMs} to ${slowestMs}`);
  return interval;
};

export const live: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/live',
    doc: {
      tag: 'Requests',
      summary: 'What runs now, by request, model and engine: an event `snapshot` at an interval',
      query: LiveQuery,
      response: { 'text/event-stream': LiveSnapshot },
      errors: [400, 503],
    },
    run: async ({ parts, query }) => {
      readInterval(query);
      return { value: partOf(parts, query.get('after')) };
    },
    combine: merging<LivePart>(mergedParts),
  }),
];
