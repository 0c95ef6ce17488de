/** The dashboard and the guide: every metric they name is there, and every metric that is there is in the guide. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { exposition } from '../../src/metrics/exposition.ts';
import { readingFamilies } from '../../src/metrics/reading-families.ts';
import { startGateway } from '../gateway.ts';

const place = Type.Integer({ minimum: 0, maximum: 1_000 });
const Datasource = Type.Object({
  type: Type.Literal('prometheus'),
  uid: Type.String({ pattern: '^\\$\\{datasource\\}$' }),
});
const Panel = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Enum(['row', 'timeseries', 'stat']),
  title: Type.String({ minLength: 1 }),
  gridPos: Type.Object({ x: place, y: place, w: place, h: place }),
  datasource: Type.Optional(Datasource),
  targets: Type.Optional(
    Type.Array(
      Type.Object({
        refId: Type.String({ pattern: '^[A-Z]$' }),
        datasource: Datasource,
        expr: Type.String({ minLength: 1 }),
      }),
      { minItems: 1 },
    ),
  ),
});
const Dashboard = Type.Object({
  title: Type.String(),
  uid: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,40}$' }),
  schemaVersion: Type.Integer({ minimum: 36 }),
  panels: Type.Array(Panel, { minItems: 1 }),
  templating: Type.Object({
    list: Type.Array(
      Type.Object({ name: Type.String(), type: Type.Enum(['datasource', 'query']), query: Type.Unknown() }),
    ),
  }),
});
const shape = Compile(Dashboard);

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const dashboard: unknown = JSON.parse(read('grafana-dashboard.json'));
if (!shape.Check(dashboard)) throw new Error(JSON.stringify(shape.Errors(dashboard)));
const { panels, templating } = dashboard;

t.test('the dashboard is one', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids are unique');
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24 && gridPos.w > 0 && gridPos.h > 0, `${title} fits the grid`);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const other = taken.get(`${x},${y}`);
        if (other !== undefined) t.fail(`${title} lies over ${other}`);
        taken.set(`${x},${y}`, title);
      }
  }
  for (const { type, title, targets } of panels)
    t.equal(targets === undefined, type === 'row', `${title} shows something`);
  const variables = new Set(templating.list.map(({ name }) => name));
  t.ok(templating.list.some(({ name, type }) => name === 'datasource' && type === 'datasource'));
  for (const [, name] of JSON.stringify(dashboard).matchAll(/\$\{?(\w+)\}?/g))
    t.ok(name?.startsWith('__') || variables.has(name ?? ''), `$${name} is known`);
});

t.test('names are those of the metrics', async (t) => {
  const gateway = await startGateway({
    env: { SLUICE_ADMIN_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  });
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  await gateway.stop();
  const reading = { reading: true, batches: 0, messages: 0, deadLetters: 0, retries: 0, lag: [] };
  const types = [...`${text}${exposition(readingFamilies(reading))}`.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const families = types.map(([, name = '']) => name);
  const exported = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  t.equal(new Set(families).size, families.length, 'no family twice');

  const asked = JSON.stringify([panels.map(({ targets }) => targets), templating]);
  const named = new Set([...asked.matchAll(/\b(?:sluice|process|nodejs)_\w+/g)].map(([name]) => name));
  t.strictSame(
    [...named].filter((name) => !exported.has(name)),
    [],
    'the dashboard asks for nothing that is not there',
  );
  const guide = read('operations.md');
  const explained = new Set([...guide.matchAll(/`((?:sluice|process|nodejs)_\w+)/g)].map(([, name]) => name));
  t.strictSame(
    families.filter((name) => !explained.has(name)),
    [],
    'the guide explains every one',
  );
  t.strictSame(
    [...explained].filter((name) => !families.includes(name ?? '')),
    [],
    'and no other',
  );
});
