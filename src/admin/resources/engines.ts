/** `/engines`: health, replicas, and taking a replica out of service. */
import {
  AdminEngine,
  AdminEngineDetail,
  AdminEngineList,
  type AdminReplica,
  DrainReplica,
  type Prefix,
} from '../../../schemas/admin/engines.ts';
import { PageQuery } from '../../../schemas/admin/page.ts';
import type { EngineRow } from '../../../schemas/engines.ts';
import { json } from '../../../schemas/openapi.ts';
import { SIMULATOR } from '../../../schemas/simulator.ts';
import { fail } from '../../errors.ts';
import { anySuccess, merging } from '../combine.ts';
import { pageOf } from '../page.ts';
import { engineProblems } from '../problems.ts';
import { type AdminParts, type AdminRoute, type ReplicaStats, route } from '../route.ts';

const tag = 'Models and engines';

/** Of the engines of this process. */
export const shownEngines = ({ engines }: AdminParts): readonly AdminEngine[] => {
  const stats = engines.stats();
  return Object.entries(engines.health()).map(([id, health]) => {
    const own = stats.get(id);
    const {
      waiting = 0,
      discovery = null,
      retries = none.retries,
      continuations = none.continuations,
    } = own ?? {};
    const replicas = (own?.replicas ?? []).map(shownReplica);
    const problems = engineProblems({ health, discovery, replicas, hasRow: own !== undefined });
    return {
      ...{ id, object: 'engine', health, waiting, discovery, retries, continuations },
      ...{ prefix: prefixOf(own), replicas, problems },
    };
  });
};

const none = { retries: { made: 0, refused: 0 }, continuations: { made: 0, failed: 0 } };

const shownReplica = (replica: ReplicaStats): AdminReplica => {
  const { url, alias, circuit, openSince, cooldownMs, lastError, busy, drained, weight, share } = replica;
  return {
    ...{ url, alias, circuit, open_since: openSince ?? null, cooldown_ms: cooldownMs },
    ...{ last_error: lastError ?? null, in_flight: busy, drained, weight, share: rounded(share) },
    prefix: prefixOf(replica),
  };
};

const rounded = (part: number): number => Math.round(part * 1000) / 1000;

const prefixOf = (counted: { promptBlocks: number; cachedBlocks: number } | undefined): Prefix =>
  rated(counted?.promptBlocks ?? 0, counted?.cachedBlocks ?? 0);

const rated = (blocks: number, matched: number): Prefix => ({
  ...{ blocks, matched, hit_rate: blocks === 0 ? null : rounded(matched / blocks) },
});

const find = (parts: AdminParts, id: string | undefined): AdminEngine => {
  const found = shownEngines(parts).find((engine) => engine.id === id);
  if (found === undefined) throw fail('not_found', `There is no engine "${id}"`);
  return found;
};

const detail = (parts: AdminParts, id: string | undefined): AdminEngineDetail => {
  const found = find(parts, id);
  const row = parts.engines.row(found.id);
  const models = parts.models().filter(({ engine }) => engine === found.id);
  return { ...found, models: models.map((model) => model.id), row: row === undefined ? null : hidden(row) };
};

/** Headers may carry keys. */
const hidden = ({ headers, ...row }: EngineRow): EngineRow =>
  headers === undefined
    ? row
    : { ...row, headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '(hidden)'])) };

const sumOf = <T>(all: readonly T[], value: (each: T) => number): number =>
  all.reduce((sum, each) => sum + value(each), 0);

const mergedPrefix = (all: readonly { readonly prefix: Prefix }[]): Prefix =>
  rated(
    sumOf(all, ({ prefix }) => prefix.blocks),
    sumOf(all, ({ prefix }) => prefix.matched),
  );

/** A replica that one of them can call is up. */
const mergedReplica = (same: readonly AdminReplica[], first: AdminReplica): AdminReplica => {
  const circuit =
    (['closed', 'half-open'] as const).find((each) => same.some((replica) => replica.circuit === each)) ??
    'open';
  const times = same.flatMap(({ open_since }) => open_since ?? []);
  return {
    ...first,
    circuit,
    open_since: circuit === 'closed' || times.length === 0 ? null : Math.min(...times),
    cooldown_ms: Math.min(...same.map(({ cooldown_ms }) => cooldown_ms)),
    last_error:
      same
        .flatMap(({ last_error }) => last_error ?? [])
        .toSorted((a, b) => a.time - b.time)
        .at(-1) ?? null,
    in_flight: sumOf(same, ({ in_flight }) => in_flight),
    drained: same.every(({ drained }) => drained),
    share: Math.min(...same.map(({ share }) => share)),
    prefix: mergedPrefix(same),
  };
};

/** As all processes together see it. */
export const mergedEngine = <E extends AdminEngine>(engines: readonly E[]): E => {
  const [first] = engines;
  if (first === undefined) throw new Error('There is no engine to merge');
  const replicas = first.replicas.map((replica, index) => {
    // Two at one address differ by their place.
    const same = engines.flatMap(({ replicas }) =>
      replicas[index]?.url === replica.url
        ? replicas[index]
        : (replicas.find(({ url }) => url === replica.url) ?? []),
    );
    return mergedReplica(same, replica);
  });
  const health = engines.some((engine) => engine.health === 'ok') ? 'ok' : 'down';
  const discovery = engines.find((engine) => engine.discovery !== null)?.discovery ?? null;
  return {
    ...first,
    ...{ health, discovery, replicas, prefix: mergedPrefix(engines) },
    waiting: sumOf(engines, ({ waiting }) => waiting),
    retries: {
      made: sumOf(engines, ({ retries }) => retries.made),
      refused: sumOf(engines, ({ retries }) => retries.refused),
    },
    continuations: {
      made: sumOf(engines, ({ continuations }) => continuations.made),
      failed: sumOf(engines, ({ continuations }) => continuations.failed),
    },
    problems: engineProblems({
      health,
      discovery,
      replicas,
      hasRow: first.id !== SIMULATOR || replicas.length > 0,
    }),
  };
};

export const mergedEngines = (lists: readonly (readonly AdminEngine[])[]): AdminEngine[] =>
  (lists[0] ?? []).map(({ id }) =>
    mergedEngine(lists.flatMap((engines) => engines.filter((engine) => engine.id === id))),
  );

const mergedLists = merging<AdminEngineList>((lists) => ({
  ...lists[0],
  data: mergedEngines(lists.map(({ data }) => data)),
}));

const draining = (verb: 'drain' | 'undrain', drained: boolean, summary: string): AdminRoute =>
  route({
    method: 'POST',
    path: `/engines/{id}/${verb}`,
    body: DrainReplica,
    doc: { tag, summary, response: json(AdminEngine), errors: [400, 404, 413] },
    run: async ({ parts, params: { id = '' }, body: { replica }, audit }) => {
      const done = parts.engines.setDrained(id, replica, drained);
      if (done === false) throw fail('not_found', `Engine "${id}" has no replica "${replica}"`);
      const value = find(parts, id);
      if (done === undefined) throw fail('not_found', `Engine "${id}" has no replicas`);
      await audit.note({ action: `engine.${verb}`, target: id, after: { replica } });
      return { value };
    },
    combine: anySuccess,
  });

export const engines: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/engines',
    doc: {
      tag,
      summary: 'Engines with their replicas',
      query: PageQuery({}),
      response: json(AdminEngineList),
      errors: [400],
    },
    run: async ({ parts, query }) => {
      if (!query.has('order')) query.set('order', 'asc');
      return { value: pageOf(shownEngines(parts), query) };
    },
    combine: mergedLists,
  }),
  route({
    method: 'GET',
    path: '/engines/{id}',
    doc: {
      tag,
      summary: 'One engine, with its models and its row of sluice.yaml',
      response: json(AdminEngineDetail),
      errors: [404],
    },
    run: async ({ parts, params }) => ({ value: detail(parts, params.id) }),
    combine: merging<AdminEngineDetail>(mergedEngine),
  }),
  draining('drain', true, 'A replica finishes its calls and gets no more'),
  draining('undrain', false, 'A replica gets calls again'),
];
