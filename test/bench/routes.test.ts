/** Tests the route benchmark: every gateway route has a row, and failures are reported. */
import t from 'tap';
import type { Target } from '../../bench/load/request.ts';
import { runRoute } from '../../bench/load/route.ts';
import type { RunResult } from '../../bench/load/window.ts';
import { routesTable } from '../../bench/report.ts';
import { Results } from '../../bench/results.ts';
import { farCatalog, nearCatalog } from '../../bench/routes/gateways.ts';
import { prepare } from '../../bench/routes/prepare.ts';
import { type RouteRow, routeRows } from '../../bench/routes/rows.ts';
import { routes } from '../../pipelines/routes.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';

const portOf = ({ root }: TestGateway): number => Number(new URL(root).port);

/** The second name of the same pipelines; only its search reads other fields. */
const twin = /^(\w+) \/vector_stores(?!.*search)/;

t.test('the routes, one gateway before another', { skip: onlyLong }, async (t) => {
  const far = await startGateway({ catalog: JSON.stringify(farCatalog) });
  t.teardown(() => far.stop());
  process.env.BENCH_FAR_KEY = far.key;
  const near = await startGateway({
    catalog: JSON.stringify(nearCatalog(9)).replaceAll('{engine}', String(portOf(far))),
  });
  t.teardown(() => near.stop());
  const target: Target = {
    port: portOf(near),
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${near.key}` },
    model: 'near/chat',
  };
  const rows = routeRows(await prepare(target));
  const settings = { target, pids: [process.pid], enginePid: process.pid, warmSeconds: 0, windowSeconds: 0 };
  const once = (row: RouteRow): Promise<RunResult> => runRoute({ ...settings, ...row, clients: 1 });

  t.test('every route of the table has a row', async (t) => {
    const asked = new Set(
      rows.flatMap(({ steps }) => steps.map(({ method, route }) => `${method} ${route}`)),
    );
    const left = routes(near.ports)
      .map(({ method, path }) => `${method} ${path.replace('+}', '}')}`)
      .filter((route) => !asked.has(route.replace(twin, '$1 /vector_store')));
    t.same(left, []);
  });

  t.test('rows have distinct names', async (t) => {
    t.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  });

  t.test('each route gives the expected response', async (t) => {
    for (const row of rows) {
      const { metrics, errors } = await once(row);
      t.same(errors, {}, row.name);
      t.ok((metrics.requests_per_second ?? 0) > 0, `${row.name} is answered`);
    }
  });

  t.test('another status than the expected one is a failure, also in the middle of a story', async (t) => {
    const count = { method: 'GET', route: '/models/count', path: '/models/count', expected: 201 };
    const alone = { name: 'alone', clients: 1, steps: [count] };
    const told = { ...alone, steps: [{ ...count, expected: 200 }, count] };
    const [single, story] = await Promise.all(
      [alone, told].map((row) => runRoute({ ...settings, ...row, longestSeconds: 0.1 })),
    );
    t.ok((single?.errors['status 200'] ?? 0) > 0);
    t.ok((story?.errors['GET /models/count: status 200'] ?? 0) > 0);
    t.equal(single?.metrics.requests_per_second, 0);
  });
});

t.test('the table has a line for each route, and says what failed', async (t) => {
  const results = new Results();
  const metrics = {
    requests_per_second: 1234,
    cpu_us_per_request: 5.678,
    latency_p50_ms: 1,
    latency_p99_ms: 2,
  };
  results.add({ round: 1, scenario: 'GET /good', subject: 'sluice', metrics, errors: {} });
  results.add({
    round: 1,
    scenario: 'GET /bad',
    subject: 'sluice',
    metrics: {},
    errors: { 'status 500': 3 },
  });
  const [, , good = '', bad = ''] = routesTable(results).split('\n');
  t.match(good, /^\| GET \/good +\| +1234 \| +5\.68 \| +1 \| +2 \| +– \| +0 \|$/);
  t.match(bad, /^\| GET \/bad .*3 × status 500 \|$/);
  t.equal(routesTable(new Results()), '');
});
