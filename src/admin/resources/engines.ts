/** `/engines`: health, replicas, and taking a replica out of service. */
import { AdminEngine, AdminEngineList, DrainReplica } from '../../../schemas/admin/engines.ts';
import { PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import { fail } from '../../errors.ts';
import { anySuccess, merging } from '../combine.ts';
import { pageOf } from '../page.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';

const tag = 'Models and engines';

const shown = ({ engines }: AdminParts): readonly AdminEngine[] => {
  const stats = engines.stats();
  return Object.entries(engines.health()).map(([id, health]) => {
    const { waiting = 0, replicas = [] } = stats.get(id) ?? {};
    return {
      ...{ id, object: 'engine', health, waiting },
      replicas: replicas.map(({ busy, ...replica }) => ({ ...replica, in_flight: busy })),
    };
  });
};

const find = (parts: AdminParts, id: string | undefined): AdminEngine => {
  const found = shown(parts).find((engine) => engine.id === id);
  if (found === undefined) throw fail('not_found', `There is no engine "${id}"`);
  return found;
};

/** As all processes together see it: a replica that one of them can call is up. */
const merged = (engines: readonly AdminEngine[]): AdminEngine => {
  const [first] = engines;
  if (first === undefined) throw new Error('There is no engine to merge');
  return {
    ...first,
    health: engines.some(({ health }) => health === 'ok') ? 'ok' : 'down',
    waiting: engines.reduce((sum, { waiting }) => sum + waiting, 0),
    replicas: first.replicas.map((replica, index) => {
      // Two at one address differ by their place.
      const same = engines.flatMap(({ replicas }) =>
        replicas[index]?.url === replica.url
          ? replicas[index]
          : (replicas.find(({ url }) => url === replica.url) ?? []),
      );
      const circuits = same.map(({ circuit }) => circuit);
      return {
        ...replica,
        circuit: (['closed', 'half-open'] as const).find((each) => circuits.includes(each)) ?? 'open',
        in_flight: same.reduce((sum, { in_flight }) => sum + in_flight, 0),
        drained: same.every(({ drained }) => drained),
      };
    }),
  };
};

const mergedLists = merging<AdminEngineList>((lists) => ({
  ...lists[0],
  data: (lists[0]?.data ?? []).map(({ id }) =>
    merged(lists.flatMap(({ data }) => data.filter((engine) => engine.id === id))),
  ),
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
      return { value: pageOf(shown(parts), query) };
    },
    combine: mergedLists,
  }),
  route({
    method: 'GET',
    path: '/engines/{id}',
    doc: { tag, summary: 'One engine', response: json(AdminEngine), errors: [404] },
    run: async ({ parts, params }) => ({ value: find(parts, params.id) }),
    combine: merging<AdminEngine>(merged),
  }),
  draining('drain', true, 'A replica finishes its calls and gets no more'),
  draining('undrain', false, 'A replica gets calls again'),
];
