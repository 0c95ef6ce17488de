/** Checks the Helm chart's files and the manifests rendered from it, as far as no tool is needed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import Schema from 'typebox/schema';
import { parse, parseAllDocuments } from 'yaml';
import { docsFiles } from '../kubernetes/chart.ts';
import { defaults, readmeFile, rowsOf, valuesSchema, withTable } from '../kubernetes/values.ts';
import { type Manifest, problemsOf } from './manifests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const chart = 'deploy/helm/sluice';

const manifests = parseAllDocuments(read('deploy/kubernetes.yaml')).map((each) => each.toJS() as Manifest);

t.test('the plain manifests fit the code that they start', async (t) => {
  t.strictSame(problemsOf(manifests), []);
  t.strictSame(manifests.map(({ kind }) => kind).sort(), [
    ...['Deployment', 'Deployment', 'Deployment', 'NetworkPolicy', 'NetworkPolicy', 'PodDisruptionBudget'],
    ...['Service', 'Service', 'ServiceAccount'],
  ]);
});

t.test('what does not fit is found', async (t) => {
  const broken = (from: string | RegExp, to: string) =>
    problemsOf(JSON.parse(JSON.stringify(manifests).replaceAll(from, to)));
  t.match(broken('"SLUICE_DRAIN_SECONDS"', '"SLUICE_DRAIN_SECOND"')[0], /nothing reads SLUICE_DRAIN_SECOND$/);
  t.match(
    broken('"name":"SLUICE_DRAIN_SECONDS","value":"120"', '"name":"SLUICE_DRAIN_SECONDS","value":"130"'),
    ['sluice-gateway: its grace period is not above 145 s'],
  );
  t.match(broken('/readyz', '/ready')[0], /its probes are/);
  t.match(broken('"args":["worker"]', '"args":["work"]'), ['sluice-worker: there is no command work']);
  t.match(broken('"value":"9787"', '"value":"9788"')[0], /the port named admin is not the admin port/);
  t.match(broken('"value":"sluice-files"', '"value":"S!"')[0], /it would not start: S3_BUCKET must be/);
  t.match(broken('"mountPath":"/tmp"', '"mountPath":"/temp"')[0], /\/tmp cannot be written/);
});

t.test('every value is described, and has a default that its schema allows', async (t) => {
  const rows = rowsOf().filter(({ path }) => path !== 'global');
  t.ok(rows.length > 80);
  t.strictSame(
    rows.filter(({ description }) => !/^[A-Z`].*[.…]$/.test(description ?? '')).map(({ path }) => path),
    [],
  );
  t.strictSame(
    rows.filter(({ value }) => value === undefined).map(({ path }) => path),
    [],
  );
  const validator = Schema.Compile(valuesSchema as object);
  t.strictSame(validator.Errors(defaults), [true, []]);
  t.notOk(validator.Check({ ...defaults, gatewy: {} }), 'a value that does not exist is refused');
  t.equal(
    read(`${chart}/README.md`),
    withTable(readFileSync(readmeFile, 'utf8')),
    'npm run manifests writes the table',
  );
});

t.test('the chart has the version of the package, and the files of docs', async (t) => {
  const { appVersion } = parse(read(`${chart}/Chart.yaml`)) as { readonly appVersion: string };
  t.equal(appVersion, (JSON.parse(read('package.json')) as { readonly version: string }).version);
  for (const file of docsFiles)
    t.equal(read(`${chart}/files/${file}`), read(`docs/${file}`), `npm run manifests copies ${file}`);
});
