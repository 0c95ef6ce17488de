/** `/status`: how the gateway is doing, in one object. */
import { AdminStatus } from '../../../schemas/admin/status.ts';
import { json } from '../../../schemas/openapi.ts';
import { merging } from '../combine.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';

type Counts = AdminStatus['requests'];

const none: Counts = { receiving: 0, queued: 0, running: 0, streaming: 0 };

const countsOf = ({ requests }: AdminParts): Counts => {
  const counts = { ...none };
  for (const { state } of requests.list()) counts[state]++;
  return counts;
};

const sum = (a: Counts, b: Counts): Counts => ({
  receiving: a.receiving + b.receiving,
  queued: a.queued + b.queued,
  running: a.running + b.running,
  streaming: a.streaming + b.streaming,
});

const problemsOf = ({ refusal }: AdminParts): string[] => {
  const refused = refusal();
  return refused === undefined ? [] : [`The catalog was refused, the former one stays: ${refused}`];
};

const statusOf = async (parts: AdminParts): Promise<AdminStatus> => {
  const unready = [...(await parts.unready())];
  const health = Object.entries(parts.engines.health());
  const requests = countsOf(parts);
  return {
    ...{ object: 'status', version: parts.version, public_url: parts.publicUrl() },
    ...{ ready: unready.length === 0, unready, problems: problemsOf(parts), services: parts.services },
    models: parts.catalog.inService().length,
    engines: {
      up: health.filter(([, word]) => word === 'ok').length,
      down: health.filter(([, word]) => word === 'down').map(([name]) => name),
    },
    requests,
    processes: [
      {
        pid: process.pid,
        uptime_seconds: Math.floor(process.uptime()),
        memory_bytes: process.memoryUsage.rss(),
        requests,
      },
    ],
  };
};

/** Ready while one process is, as the probe has it; an engine is up while one process can call it. */
const merged = (all: readonly AdminStatus[]): AdminStatus => {
  const [first] = all;
  if (first === undefined) throw new Error('There is no status to merge');
  const ready = all.some((each) => each.ready);
  const down = first.engines.down.filter((name) => all.every(({ engines }) => engines.down.includes(name)));
  return {
    ...first,
    ready,
    unready: ready ? [] : all.flatMap(({ unready }) => unready),
    problems: [...new Set(all.flatMap(({ problems }) => problems))],
    engines: { up: first.engines.up + first.engines.down.length - down.length, down },
    requests: all.map(({ requests }) => requests).reduce(sum, none),
    processes: all.flatMap(({ processes }) => processes),
  };
};

export const status: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/status',
    doc: { tag: 'Service', summary: 'How the gateway is doing', response: json(AdminStatus) },
    run: async ({ parts }) => ({ value: await statusOf(parts) }),
    combine: merging<AdminStatus>(merged),
  }),
];
