/** Checks that dashboard, alerts and guide name only metrics that exist, and that the guide names all. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { everyFamily } from './every-family.ts';

const place = Type.Integer({ minimum: 0, maximum: 1_000 });
const Datasource = Type.Object({
  type: Type.Literal('prometheus'),
  uid: Type.String({ pattern: '^\\$\\{datasource\\}$' }),
});
const Panel = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Enum(['row', 'timeseries', 'stat']),
  title: Type.String({ minLength: 1 }),
  description: Type.Optional(Type.String({ minLength: 1 })),
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
const Alerts = Type.Object({
  groups: Type.Array(
    Type.Object({
      rules: Type.Array(
        Type.Object({
          alert: Type.String({ pattern: '^Sluice[A-Z]' }),
          expr: Type.String({ minLength: 1 }),
          labels: Type.Object({ severity: Type.Enum(['warning', 'critical']) }),
          annotations: Type.Object({ summary: Type.String({ minLength: 1 }) }),
        }),
        { minItems: 1 },
      ),
    }),
    { minItems: 1 },
  ),
});
const alertsShape = Compile(Alerts);

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const dashboard: unknown = JSON.parse(read('grafana-dashboard.json'));
if (!shape.Check(dashboard)) throw new Error(JSON.stringify(shape.Errors(dashboard)));
const { panels, templating } = dashboard;
const alerts: unknown = parse(read('prometheus-alerts.yml'));
if (!alertsShape.Check(alerts)) throw new Error(JSON.stringify(alertsShape.Errors(alerts)));
const rules = alerts.groups.flatMap((group) => group.rules);

t.test('the dashboard is valid', async (t) => {
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

t.test('every panel has a description', async (t) => {
  for (const { type, title, description } of panels)
    t.equal(description === undefined, type === 'row', `${title} is explained`);
});

t.test('alerts', async (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length, 'names are unique');
  const promtool = (...words: string[]) =>
    spawnSync('promtool', words, { encoding: 'utf8', timeout: 30_000 });
  if (promtool('--version').status !== 0) return void t.comment('no promtool on PATH: the rules are not run');
  const [file, cases] = ['../../docs/prometheus-alerts.yml', './alerts.promtool.yml'].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  for (const words of [
    ['check', 'rules', String(file)],
    ['test', 'rules', String(cases)],
  ]) {
    const { status, stdout, stderr } = promtool(...words);
    t.equal(status, 0, `${words.join(' ')}: ${stdout}${stderr}`);
  }
});

t.test('dashboard and alerts use existing metric names', async (t) => {
  const types = await everyFamily();
  const families = types.map(({ name }) => name);
  const exported = new Set(
    types.flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  t.equal(new Set(families).size, families.length, 'no family twice');

  const asked = JSON.stringify([panels.map(({ targets }) => targets), templating, rules]);
  const named = new Set([...asked.matchAll(/\b(?:sluice|process|nodejs)_\w+/g)].map(([name]) => name));
  t.strictSame(
    [...named].filter((name) => !exported.has(name)),
    [],
    'dashboard and alerts ask for nothing that is not there',
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
