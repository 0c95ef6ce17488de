/** Checks of the chart that need no cluster: lint, rendering, schemas, and what the rendered objects say. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadCatalogFile } from '../../src/catalog/load.ts';
import { deploymentsOf, type Manifest, problemsOf, selectedBy } from '../deploy/manifests.ts';
import {
  chartFolder,
  docsFiles,
  examples,
  helm,
  plainFile,
  plainText,
  refusal,
  render,
  renderText,
} from './chart.ts';
import type { Checks } from './check.ts';
import { schemaLocation, writeCrdSchemas, writeSchemas } from './schemas.ts';
import { kubeconformProgram, releases, root } from './tools.ts';

export const checkChart = async ({ check }: Checks): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
  try {
    for (const [name, values] of Object.entries({ 'no values': undefined, ...examples }))
      await check(`helm lint --strict: ${name}`, () => {
        const output = helm(
          'lint',
          '--strict',
          chartFolder,
          ...(values === undefined ? [] : ['--values', values]),
        );
        assert.match(output, /1 chart\(s\) linted, 0 chart\(s\) failed/);
      });
    for (const release of releases)
      await check(`every object is valid for Kubernetes ${release}`, () => conform(release, folder));
    for (const [name, values] of Object.entries({ 'no values': undefined, ...examples }))
      await check(`settings, selectors, probes and grace periods fit: ${name}`, () =>
        assert.deepEqual(problemsOf(render({ values })), []),
      );
    await check('values that do not work together are refused with a sentence', checkRefusals);
    await check('alerts and dashboard are those of docs', checkMonitoring);
    await check('a packaged chart has them too', () => checkPackage(folder));
    await check('the catalog arrives as it was written', () => checkCatalog(folder));
    await check('policies, services and budgets select the pods they are for', checkSelectors);
    await check('metrics of the autoscaler are those of the adapter rule', checkAutoscaling);
    await check('components can have images of their own, for upgrades in order', checkImages);
    await check('deploy/kubernetes.yaml is current', () =>
      assert.equal(readFileSync(plainFile, 'utf8'), plainText(), 'run npm run manifests'),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const conform = (release: string, folder: string): void => {
  const schemas = join(folder, release);
  mkdirSync(schemas);
  const texts = Object.values(examples).map((values) => renderText({ values, kubeVersion: release }));
  const kinds = new Set(
    texts.flatMap((text) => [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind ?? '')),
  );
  writeSchemas(release, schemas, kinds);
  writeCrdSchemas(schemas);
  const validate = (text: string): { readonly resources?: readonly unknown[]; readonly summary: Summary } =>
    JSON.parse(
      spawnSync(
        kubeconformProgram,
        ['-strict', '-summary', '-output', 'json', '-schema-location', schemaLocation(schemas), '-'],
        { input: text, encoding: 'utf8', maxBuffer: 2 ** 26 },
      ).stdout,
    );
  let valid = 0;
  for (const text of texts) {
    const { summary, resources } = validate(text);
    assert.deepEqual(
      { ...summary, valid: 0 },
      { valid: 0, invalid: 0, errors: 0, skipped: 0 },
      JSON.stringify(resources),
    );
    valid += summary.valid;
  }
  assert.ok(valid > 40, `${valid} objects`);
  const broken = texts[0]?.replace('terminationGracePeriodSeconds:', 'terminationGraceSeconds:') ?? '';
  assert.equal(validate(broken).summary.invalid, 1, 'a field that does not exist is found');
};

interface Summary {
  readonly valid: number;
  readonly invalid: number;
  readonly errors: number;
  readonly skipped: number;
}

const redis = 'settings.REDIS_URL=redis://redis:6379';
const refusals: readonly (readonly [set: readonly string[], message: RegExp])[] = [
  [['gateway.replicas=2'], /gateway\.replicas: several gateways need REDIS_URL/],
  [['gateway.autoscaling.enabled=true'], /several gateways need REDIS_URL/],
  [['worker.enabled=true'], /worker\.enabled: workers need REDIS_URL/],
  [['worker.enabled=true', redis], /worker\.enabled: workers need S3_BUCKET/],
  [['billing.enabled=true'], /billing\.enabled: billing needs KAFKA_BROKERS/],
  [['billing.enabled=true', 'settings.KAFKA_BROKERS=kafka:9092'], /billing needs CLICKHOUSE_URL/],
  [['settings.PORT=9000', 'image.tag=x'], /at '\/settings\/PORT': got number, want string|settings\.PORT/],
  [['settings.SLUICE_DATA=/other'], /settings\.SLUICE_DATA: the chart sets this variable/],
  [[redis, 'secret.create.REDIS_URL=redis://other:6379'], /REDIS_URL: this variable is also in/],
  [[redis, 'gateway.replicas=2', 'gateway.data.create=true'], /gateway\.data\.accessMode: several gateways/],
  [['gateway.data.create=true', 'gateway.data.claim=mine'], /gateway\.data\.claim: leave it empty/],
  [
    [redis, 'gateway.autoscaling.enabled=true', 'gateway.autoscaling.maxReplicas=1'],
    /must not be above maxReplicas/,
  ],
  [['catalog=x', 'existingCatalog=y'], /existingCatalog: leave it empty/],
  [['ingress.enabled=true'], /ingress\.host: must be set/],
  [
    ['catalog=replicas: k8s+http://vllm.models:http/v1'],
    /discovery\.namespaces: k8s\+http:\/\/vllm\.models of the catalog/,
  ],
  [['gateway.replica=2'], /additional properties 'replica' not allowed/],
  [['gateway.drainSeconds=4000'], /drainSeconds/],
  [['image.tag=not a tag'], /tag/],
];

const checkRefusals = (): void => {
  for (const [set, message] of refusals) assert.match(refusal(set), message, set.join(' '));
};

const named = (manifests: readonly Manifest[], kind: string, name = /./): Manifest => {
  const found = manifests.filter((each) => each.kind === kind && name.test(each.metadata.name));
  assert.equal(found.length, 1, `one ${kind} ${name}`);
  return found[0] as Manifest;
};

const docs = (file: string): string => readFileSync(join(root, 'docs', file), 'utf8');

const checkMonitoring = (): void => {
  const manifests = render({ values: examples.full });
  assert.deepEqual(named(manifests, 'PrometheusRule').spec, parse(docs('prometheus-alerts.yml')));
  const dashboard = named(manifests, 'ConfigMap', /dashboard/);
  assert.equal(dashboard.data?.['sluice.json']?.trim(), docs('grafana-dashboard.json').trim());
  assert.equal(dashboard.metadata.labels?.grafana_dashboard, '1');
};

const checkPackage = (folder: string): void => {
  helm('package', chartFolder, '--destination', folder);
  const { version } = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')) as { version: string };
  const packed = (file: string): string =>
    execFileSync('tar', ['-xzOf', join(folder, `sluice-${version}.tgz`), `sluice/files/${file}`], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
  for (const file of docsFiles) assert.equal(packed(file), docs(file));
};

const checkCatalog = (folder: string): void => {
  for (const name of ['full', 'discovery']) {
    const text =
      named(render({ values: examples[name] }), 'ConfigMap', /catalog/).data?.['sluice.yaml'] ?? '';
    const values = parse(readFileSync(examples[name] ?? '', 'utf8')) as { readonly catalog: string };
    assert.equal(text.trim(), values.catalog.trim());
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, text);
    assert.equal(loadCatalogFile(file).models.length, 1);
  }
};

const selectorOf = (manifest: Manifest): Readonly<Record<string, string>> => {
  const spec = manifest.spec as {
    readonly selector?: { readonly matchLabels?: Record<string, string> } & Record<string, unknown>;
    readonly podSelector?: { readonly matchLabels: Record<string, string> };
  };
  return (spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? spec.selector ?? {}) as Record<
    string,
    string
  >;
};

const checkSelectors = (): void => {
  const manifests = render({ values: examples.full });
  const everyone = ['billing', 'gateway', 'worker'];
  for (const [kind, name, components] of [
    ['Service', /sluice$/, ['gateway']],
    ['Service', /metrics$/, everyone],
    ['PodDisruptionBudget', /./, ['gateway']],
    ['NetworkPolicy', /clients$/, ['gateway']],
    ['NetworkPolicy', /sluice$/, everyone],
  ] as const)
    assert.deepEqual(
      selectedBy(manifests, selectorOf(named(manifests, kind, name))),
      components,
      `${kind} ${name}`,
    );
  const monitored = selectorOf(named(manifests, 'ServiceMonitor'));
  const services = manifests.filter(
    ({ kind, metadata }) =>
      kind === 'Service' &&
      Object.entries(monitored).every(([label, value]) => metadata.labels?.[label] === value),
  );
  assert.deepEqual(
    services.map(({ metadata }) => metadata.name),
    ['sluice-metrics'],
  );
  const target = named(manifests, 'HorizontalPodAutoscaler').spec?.scaleTargetRef as {
    readonly name: string;
  };
  assert.deepEqual(deploymentsOf(manifests).filter(({ name }) => name === target.name).length, 1);
  const tokens = deploymentsOf(manifests).map(({ name, template }) => [
    name,
    template.spec.automountServiceAccountToken,
  ]);
  assert.deepEqual(tokens.sort(), [
    ['sluice-billing', false],
    ['sluice-gateway', true],
    ['sluice-worker', true],
  ]);
};

const checkAutoscaling = (): void => {
  const { metrics } = named(render({ values: examples.full }), 'HorizontalPodAutoscaler').spec as unknown as {
    readonly metrics: readonly { readonly pods?: { readonly metric: { readonly name: string } } }[];
  };
  const adapter = parse(readFileSync(join(root, 'deploy/helm/examples/prometheus-adapter.yaml'), 'utf8')) as {
    readonly rules: {
      readonly custom: readonly {
        seriesQuery: string;
        metricsQuery: string;
        name?: { readonly as: string };
      }[];
    };
  };
  const offered = adapter.rules.custom.map(
    ({ seriesQuery, name }) => name?.as ?? seriesQuery.replace(/\{.*/, ''),
  );
  assert.deepEqual(
    metrics.flatMap(({ pods }) => (pods === undefined ? [] : [pods.metric.name])),
    offered,
  );
  const operations = docs('operations.md');
  for (const { seriesQuery, metricsQuery } of adapter.rules.custom)
    for (const [series] of `${seriesQuery} ${metricsQuery}`.matchAll(/sluice_\w+/g))
      assert.ok(operations.includes(`\`${series}`), `${series} is a metric`);
};

const checkImages = (): void => {
  const images = (...set: string[]) =>
    Object.fromEntries(
      deploymentsOf(render({ values: examples.services, set })).map(({ name, template }) => [
        name.replace('sluice-', ''),
        template.spec.containers[0]?.image,
      ]),
    );
  const all = (image: string) => ({ billing: image, gateway: image, worker: image });
  const { appVersion } = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')) as {
    appVersion: string;
  };
  assert.deepEqual(images(), all(`sluice:${appVersion}`));
  assert.deepEqual(images('image.repository=r.example.com/s', 'image.tag=2.0'), all('r.example.com/s:2.0'));
  const digest = `sha256:${'0'.repeat(64)}`;
  assert.deepEqual(images(`image.digest=${digest}`), all(`sluice@${digest}`));
  assert.deepEqual(images('image.tag=1.0', 'worker.image.tag=2.0', 'billing.image.tag=2.0'), {
    billing: 'sluice:2.0',
    gateway: 'sluice:1.0',
    worker: 'sluice:2.0',
  });
};
