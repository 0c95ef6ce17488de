/** Runs Helm on the chart, and reads what it renders. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../deploy/manifests.ts';
import { helmProgram, root } from './tools.ts';

export const chartFolder = join(root, 'deploy/helm/sluice');
/** What the chart has a copy of, as Helm packs only its own folder; no links, which not every checkout keeps. */
export const docsFiles = ['prometheus-alerts.yml', 'grafana-dashboard.json'] as const;
const examplesFolder = join(root, 'deploy/helm/examples');

/** Files of values for this chart, by name. */
export const examples: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(examplesFolder)
    .filter((file) => file !== 'prometheus-adapter.yaml')
    .map((file) => [file.replace('.yaml', ''), join(examplesFolder, file)]),
);

/** Where objects of the rendered examples live. */
export const release = { name: 'sluice', namespace: 'sluice' };

interface Rendering {
  readonly values?: string | undefined;
  readonly set?: readonly string[];
  readonly kubeVersion?: string;
}

const renderArgs = ({ values, set = [], kubeVersion }: Rendering): string[] => [
  ...['template', release.name, chartFolder, '--namespace', release.namespace],
  ...(values === undefined ? [] : ['--values', values]),
  ...set.flatMap((each) => ['--set', each]),
  ...(kubeVersion === undefined ? [] : ['--kube-version', kubeVersion]),
];

/** Throws what Helm says where it refuses. */
export const renderText = (rendering: Rendering = {}): string =>
  execFileSync(helmProgram, renderArgs(rendering), { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' });

export const readManifests = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);

export const render = (rendering?: Rendering): readonly Manifest[] => readManifests(renderText(rendering));

/** What Helm refuses values with. */
export const refusal = (set: readonly string[]): string => {
  const { status, stderr } = spawnSync(helmProgram, renderArgs({ set }), { encoding: 'utf8' });
  if (status === 0) throw new Error(`Helm takes ${set.join(', ')}`);
  return stderr;
};

/** Throws what Helm says where it fails, and where the API server warns it. */
export const helm = (...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(helmProgram, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0 || /warnings\.go|^Warning/m.test(stderr)) throw new Error(`helm ${args[0]}: ${stderr}`);
  return stdout;
};

/** Plain manifests for those who do not use Helm; committed, and compared with what is rendered now. */
export const plainFile = join(root, 'deploy/kubernetes.yaml');
export const plainText = (): string =>
  [
    '# A complete installation on services that run elsewhere, rendered by `npm run manifests` from deploy/helm/sluice with',
    '# deploy/helm/examples/services.yaml. Do not edit it. First make the namespace, and the Secret that the example names:',
    '#   kubectl create namespace sluice && kubectl apply -f deploy/kubernetes.yaml',
    renderText({ values: examples.services }).replace(
      /^ *(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm,
      '',
    ),
  ].join('\n');
