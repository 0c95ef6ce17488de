/** What the live page keeps of the snapshots: the last one, recent rates, and the requests that ended last. */
import type { LiveEngine, LiveModel, LiveRow, LiveSnapshot } from '../../../../../schemas/admin/live.ts';
import type { LogEntry } from '../../../../../schemas/admin/requests.ts';

/** Points of the charts, and ended requests. */
export const mostPoints = 180;
export const mostEnded = 100;

export interface Point {
  /** Unix seconds. */
  readonly at: number;
  readonly tokens: number | null;
  readonly inFlight: number;
  /** A second; null in the first snapshot. */
  readonly ended: number | null;
}

export interface LiveState {
  readonly snapshot: LiveSnapshot;
  readonly points: readonly Point[];
  /** The newest first. */
  readonly ended: readonly LogEntry[];
  /** Places of the requests in flight, the oldest first: ages are rounded, and by them rows would change places. */
  readonly places: ReadonlyMap<string, number>;
}

export const inFlight = ({ receiving, queued, running, streaming }: LiveSnapshot['counts']): number =>
  receiving + queued + running + streaming;

export const nextState = (before: LiveState | undefined, snapshot: LiveSnapshot): LiveState => {
  const last = before?.points.at(-1);
  const at = snapshot.time / 1000;
  const seconds = last === undefined ? 0 : at - last.at;
  const point: Point = {
    at,
    tokens: snapshot.tokens_per_second,
    inFlight: inFlight(snapshot.counts),
    ended: seconds > 0 ? snapshot.ended_count / seconds : null,
  };
  const known = new Set(before?.ended.map(({ id }) => id));
  const fresh = snapshot.ended.filter(({ id }) => !known.has(id)).reverse();
  return {
    snapshot,
    points: [...(before?.points ?? []), point].slice(-mostPoints),
    ended: [...fresh, ...(before?.ended ?? [])].slice(0, mostEnded),
    places: placesOf(before, snapshot.requests),
  };
};

const placesOf = (
  before: LiveState | undefined,
  newestFirst: readonly LiveRow[],
): ReadonlyMap<string, number> => {
  let next = Math.max(0, ...(before?.places.values() ?? []));
  return new Map(newestFirst.toReversed().map(({ id }) => [id, before?.places.get(id) ?? ++next]));
};

export interface ModelGroup {
  /** Null: the model is not known yet, or the route needs none. */
  readonly id: string | null;
  readonly counted: LiveModel | undefined;
  /** The oldest first, so that rows stay where they are. */
  readonly requests: readonly LiveRow[];
}

export interface EngineGroup {
  /** Null: no engine is known yet. */
  readonly id: string | null;
  readonly engine: LiveEngine | undefined;
  readonly models: readonly ModelGroup[];
}

/** In the order of the engines; those without requests are left out. */
export const groupsOf = ({ snapshot, places }: LiveState): readonly EngineGroup[] => {
  const { engines, models, requests } = snapshot;
  const place = ({ id }: LiveRow): number => places.get(id) ?? 0;
  const byEngine = new Map<string | null, Map<string | null, LiveRow[]>>();
  for (const row of requests) {
    const byModel = byEngine.get(row.engine) ?? new Map<string | null, LiveRow[]>();
    byEngine.set(row.engine, byModel);
    const rows = byModel.get(row.model) ?? [];
    byModel.set(row.model, rows);
    rows.push(row);
  }
  const known = engines.map(({ id }) => id);
  const gone = [...byEngine.keys()].filter((id) => id !== null && !known.includes(id));
  return [...known, ...gone, null].flatMap((id) => {
    const byModel = byEngine.get(id);
    if (byModel === undefined) return [];
    const groups = [...byModel].map(([model, rows]) => ({
      id: model,
      counted: models.find((each) => each.id === model),
      requests: rows.sort((a, b) => place(a) - place(b)),
    }));
    groups.sort((a, b) => (a.id ?? '').localeCompare(b.id ?? ''));
    return [{ id, engine: engines.find((engine) => engine.id === id), models: groups }];
  });
};
