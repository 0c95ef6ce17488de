/** Finds what does not fit in manifests of Kubernetes: selectors, settings, probes, grace periods, references. */
import { commands } from '../../src/cli/commands.ts';
import { loadConfig } from '../../src/config.ts';

type Labels = Readonly<Record<string, string>>;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly data?: Labels;
  // Of many kinds: what a check reads of it, it names.
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Labels; readonly annotations?: Labels };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly automountServiceAccountToken: boolean;
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  };
}

interface DeploymentSpec {
  readonly selector: { readonly matchLabels: Labels };
  readonly template: PodTemplate;
}

export const deploymentsOf = (manifests: readonly Manifest[]) =>
  manifests
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata, spec }) => ({ name: metadata.name, ...(spec as unknown as DeploymentSpec) }));

/** Components whose pods a selector selects. */
export const selectedBy = (manifests: readonly Manifest[], labels: Labels): readonly string[] =>
  deploymentsOf(manifests)
    .map(({ template }) => template.metadata.labels)
    .filter((own) => Object.entries(labels).every(([name, value]) => own[name] === value))
    .map((own) => own['app.kubernetes.io/component'] ?? '')
    .sort();

/** What a secret may hold, by the variable. */
const secrets: Labels = {
  REDIS_URL: 'rediss://user:password@redis:6379',
  CLICKHOUSE_URL: 'https://user:password@clickhouse:8443/sluice',
};
const anySecret = 'sk-0123456789abcdef';

/** The environment of a container as its process sees it. */
export const environmentOf = ({ env }: Container): Labels =>
  Object.fromEntries(env.map(({ name, value }) => [name, value ?? secrets[name] ?? anySecret]));

/** Sentences, each with the name of the object; none: everything fits. */
export const problemsOf = (manifests: readonly Manifest[]): readonly string[] => {
  const found: string[] = [];
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
  for (const name of names)
    if (names.indexOf(name) !== names.lastIndexOf(name)) found.push(`${name}: there are two`);
  for (const deployment of deploymentsOf(manifests)) {
    const report = (problem: string) => found.push(`${deployment.name}: ${problem}`);
    const { template } = deployment;
    const component = template.metadata.labels['app.kubernetes.io/component'] ?? '';
    if (selectedBy(manifests, deployment.selector.matchLabels).join() !== component)
      report('its selector does not select its own pods alone');
    for (const container of template.spec.containers) {
      for (const problem of settingProblems(container, manifests)) report(problem);
      for (const problem of processProblems(container, template)) report(problem);
      for (const problem of volumeProblems(container, template, manifests)) report(problem);
    }
  }
  return found;
};

function* settingProblems(container: Container, manifests: readonly Manifest[]): Generator<string> {
  const variables = container.env.map(({ name }) => name);
  if (new Set(variables).size < variables.length) yield 'a variable is set twice';
  const { SLUICE_CONFIG, SLUICE_TLS_CERT, SLUICE_TLS_KEY, ...env } = environmentOf(container);
  for (const file of [SLUICE_CONFIG, SLUICE_TLS_CERT, SLUICE_TLS_KEY])
    if (
      file !== undefined &&
      !container.volumeMounts.some(({ mountPath }) => file.startsWith(`${mountPath}/`))
    )
      yield `${file} is not mounted`;
  const read = new Set<string>();
  const watched = new Proxy(env, { get: (target, name) => read.add(String(name)) && target[String(name)] });
  try {
    const config = loadConfig(watched);
    if (config.admin?.port !== container.ports.find(({ name }) => name === 'admin')?.containerPort)
      yield 'the port named admin is not the admin port';
    const http = container.ports.find(({ name }) => name === 'http');
    if (http !== undefined && http.containerPort !== config.port) yield 'the port named http is not the port';
    if (config.dataDir !== '/data') yield 'its data folder is not /data';
  } catch (error) {
    yield `it would not start: ${error instanceof Error ? error.message : String(error)}`;
  }
  // The catalog names variables with keys of engines.
  const catalogs = manifests.map(({ data }) => data?.['sluice.yaml'] ?? '').join('\n');
  for (const name of Object.keys(env))
    if (!read.has(name) && !catalogs.includes(`key_env: ${name}`)) yield `nothing reads ${name}`;
}

function* processProblems(container: Container, { spec }: PodTemplate): Generator<string> {
  const [command] = container.args;
  if (!commands.some(({ name }) => name === command)) yield `there is no command ${command}`;
  const paths = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
    ({ httpGet }) => `${httpGet.port}${httpGet.path}`,
  );
  if (paths.join() !== 'admin/livez,admin/readyz,admin/livez') yield `its probes are ${paths}`;
  // After the drain a process has five seconds to close its stores.
  const drain = Number(environmentOf(container).SLUICE_DRAIN_SECONDS) + 5;
  const needed = (container.lifecycle?.preStop.sleep.seconds ?? 0) + drain;
  if (!(spec.terminationGracePeriodSeconds > needed)) yield `its grace period is not above ${needed} s`;
}

function* volumeProblems(
  container: Container,
  { spec }: PodTemplate,
  manifests: readonly Manifest[],
): Generator<string> {
  const volumes = spec.volumes.map(({ name }) => name);
  for (const { name } of container.volumeMounts)
    if (!volumes.includes(name)) yield `there is no volume ${name}`;
  for (const path of ['/data', '/tmp'])
    if (!container.volumeMounts.some(({ mountPath }) => mountPath === path))
      yield `${path} cannot be written`;
  const account = manifests.find(
    ({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === spec.serviceAccountName,
  );
  if (account === undefined) yield `there is no service account ${spec.serviceAccountName}`;
}
