/** Every object of the chart is admitted by a real API server, and upgrades change no more than they should. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Manifest } from '../deploy/manifests.ts';
import { eventually } from '../eventually.ts';
import type { Api, ApiObject } from './api.ts';
import { chartFolder, examples, helm, plainFile, readManifests } from './chart.ts';
import type { Checks } from './check.ts';
import type { ControlPlane } from './control-plane.ts';
import { readCrds } from './schemas.ts';

/** What `helm install` and `helm upgrade` print; a namespace is made first. */
export const release = async (
  { api, kubeconfig }: ControlPlane,
  namespace: string,
  values: string | undefined,
  ...set: readonly string[]
): Promise<string> => {
  await makeNamespace(api, namespace);
  return helm(
    ...['upgrade', '--install', 'sluice', chartFolder, '--namespace', namespace, '--kubeconfig', kubeconfig],
    ...(values === undefined ? [] : ['--values', values]),
    ...set.flatMap((each) => ['--set', each]),
  );
};

/** Pods in it must fulfil the strictest of the Pod Security Standards. */
export const makeNamespace = async (api: Api, name: string): Promise<void> => {
  const labels = Object.fromEntries(
    ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  // Pods need it; a controller makes it.
  await eventually(
    async () => (await api.call('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`)).status === 200,
    `the namespace ${name} has a service account`,
  );
};

const listOf = (api: Api, namespace: string, kind: string) =>
  api.list<
    ApiObject & { readonly status?: { readonly conditions?: readonly { readonly message: string }[] } }
  >(`${kind === 'pods' ? '/api/v1' : '/apis/apps/v1'}/namespaces/${namespace}/${kind}`);

const componentsOf = (objects: readonly ApiObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] ?? '').sort();

export const checkAdmission = async ({ check }: Checks, plane: ControlPlane): Promise<void> => {
  const { api } = plane;
  await check('CRDs of the Prometheus operator are established', async () => {
    for (const crd of readCrds()) await api.apply(crd as unknown as ApiObject);
    for (const kind of ['servicemonitors', 'prometheusrules'])
      await eventually(
        async () => (await api.call('GET', `/apis/monitoring.coreos.com/v1/${kind}`)).status === 200,
        kind,
      );
    await makeNamespace(api, 'models');
  });

  for (const [name, values] of Object.entries(examples))
    await check(`helm install: ${name}`, async () => {
      await release(plane, name, values);
      const wanted = name === 'full' || name === 'services' ? ['billing', 'gateway', 'worker'] : ['gateway'];
      // A pod that admission refused would be missing.
      await eventually(async () => {
        const sets = await listOf(api, name, 'replicasets');
        const refused = sets.flatMap(({ status }) => status?.conditions ?? []);
        if (refused[0] !== undefined) throw new Error(refused[0].message);
        return [...new Set(componentsOf(await listOf(api, name, 'pods')))].join() === wanted.join();
      }, `pods of ${wanted}`);
    });

  await check('the same values again change nothing: no pod is replaced', async () => {
    const before = await listOf(api, 'services', 'replicasets');
    await release(plane, 'services', examples.services);
    assert.deepEqual(names(await listOf(api, 'services', 'replicasets')), names(before));
  });

  await check('upgrades in order: billing and workers first, gateways stay', async () => {
    const revisions = async () => componentsOf(await listOf(api, 'services', 'replicasets')).join();
    const settle = (wanted: string) => eventually(async () => (await revisions()) === wanted, wanted);
    await release(plane, 'services', examples.services, 'billing.image.tag=0.2.0', 'worker.image.tag=0.2.0');
    await settle('billing,billing,gateway,worker,worker');
    await release(plane, 'services', examples.services, 'image.tag=0.2.0');
    await settle('billing,billing,gateway,gateway,worker,worker');
  });

  await check('a pod that breaks the standard is refused there', async () => {
    const pod = { metadata: { name: 'root' }, spec: { containers: [{ name: 'root', image: 'sluice' }] } };
    const { status, body } = await api.call('POST', '/api/v1/namespaces/services/pods', pod);
    assert.equal(status, 403);
    assert.match(JSON.stringify(body), /violates PodSecurity/);
  });

  await check('deploy/kubernetes.yaml: server-side apply without a warning', async () => {
    await makeNamespace(api, 'sluice');
    const applied = readManifests(readFileSync(plainFile, 'utf8'));
    assert.ok(applied.length > 8);
    for (const manifest of applied) assert.deepEqual(await api.apply(manifest as ApiObject & Manifest), []);
  });

  await check('notes name the first steps and what is missing', async () => {
    const notes = async (name: string, values?: string): Promise<string> => {
      const text = (await release(plane, name, values)).split('NOTES:\n')[1];
      assert.ok(text !== undefined);
      return text;
    };
    const bare = await notes('bare');
    assert.match(bare, /kubectl -n bare rollout status deploy\/sluice-gateway/);
    assert.match(bare, /exec deploy\/sluice-gateway -- sluice keys create/);
    assert.match(bare, /there is no catalog/);
    assert.match(bare, /WARNING: keys, usage and files are in an emptyDir/);
    assert.doesNotMatch(await notes('minimal', examples.minimal), /WARNING/);
    assert.doesNotMatch(await notes('full', examples.full), /WARNING|NOTE/);
    assert.match(
      await notes('discovery', examples.discovery),
      /WARNING: S3_BUCKET is not set: every gateway has its own/,
    );
  });

  await check('helm uninstall leaves the claim with the data, and nothing else', async () => {
    helm('uninstall', 'sluice', '--namespace', 'minimal', '--kubeconfig', plane.kubeconfig);
    const claims = await api.list<ApiObject>('/api/v1/namespaces/minimal/persistentvolumeclaims');
    assert.deepEqual(names(claims), ['sluice-data']);
    assert.deepEqual(await listOf(api, 'minimal', 'deployments'), []);
  });
};

const names = (objects: readonly ApiObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).sort();
