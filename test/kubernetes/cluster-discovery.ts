/** Discovery with the chart's own service account and Role, on EndpointSlices of a real API server. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressesOf } from '../../src/engines/discovery/discover.ts';
import { Followed } from '../discovery/followed.ts';
import { silent } from '../engines/collect.ts';
import { eventually } from '../eventually.ts';
import { type Api, openApi } from './api.ts';
import type { Checks } from './check.ts';
import { type ControlPlane, clusterAddress } from './control-plane.ts';

const source = 'k8s+http://vllm.models:http/v1';

const slice = (name: string, endpoints: readonly { readonly ip: string; readonly ready?: boolean }[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'models', labels: { 'kubernetes.io/service-name': 'vllm' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8000, protocol: 'TCP' }],
  endpoints: endpoints.map(({ ip, ready = true }) => ({ addresses: [ip], conditions: { ready } })),
});

const urls = (...hosts: readonly number[]) => hosts.map((host) => `http://10.1.0.${host}:8000/v1`);

export const tokenOf = async (api: Api, namespace: string, account: string): Promise<string> => {
  const { status } = await api.post<{ readonly status: { readonly token: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    { spec: { expirationSeconds: 3600 } },
  );
  return status.token;
};

export const checkDiscovery = async (
  { check }: Checks,
  plane: ControlPlane,
  folder: string,
): Promise<void> => {
  const { api, ca } = plane;
  const clusterFor = async (namespace: string, account: string) => {
    const own = join(folder, `${namespace}-${account}`);
    mkdirSync(own);
    writeFileSync(join(own, 'token'), await tokenOf(api, namespace, account));
    writeFileSync(join(own, 'ca.crt'), ca);
    return { url: `https://${clusterAddress}:443`, folder: own };
  };

  await check('the account of the release follows EndpointSlices as they change', async () => {
    await api.apply(slice('vllm-a', [{ ip: '10.1.0.1' }, { ip: '10.1.0.2', ready: false }]));
    const followed = new Followed(
      addressesOf(source, { cluster: await clusterFor('discovery', 'sluice') }, silent),
    );
    try {
      await followed.becomes(urls(1));
      await api.apply(slice('vllm-a', [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }]));
      await followed.becomes(urls(1, 2));
      await api.apply(slice('vllm-b', [{ ip: '10.1.0.3' }]));
      await followed.becomes(urls(1, 2, 3));
      await api.call('DELETE', '/apis/discovery.k8s.io/v1/namespaces/models/endpointslices/vllm-a');
      await followed.becomes(urls(3));
    } finally {
      followed.stop();
    }
  });

  await check('another account is refused, and found again once it may', async () => {
    const problems: string[] = [];
    const cluster = await clusterFor('discovery', 'default');
    const followed = new Followed(
      addressesOf(source, { cluster }, silent, (problem) => problems.push(problem ?? 'found')),
    );
    try {
      await eventually(() => problems.length > 0, 'a refusal');
      assert.match(problems[0] ?? '', /answered 403/);
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'others', namespace: 'models' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sluice-discovery-discovery' },
        subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'discovery' }],
      };
      await api.apply(binding);
      await followed.becomes(urls(3));
    } finally {
      followed.stop();
    }
  });

  await check('that account may do nothing else', async () => {
    const own = openApi(plane.url, await tokenOf(api, 'discovery', 'sluice'), ca);
    try {
      const status = async (path: string) => (await own.call('GET', path)).status;
      assert.equal(await status('/apis/discovery.k8s.io/v1/namespaces/models/endpointslices'), 200);
      for (const path of [
        '/apis/discovery.k8s.io/v1/endpointslices',
        '/apis/discovery.k8s.io/v1/namespaces/discovery/endpointslices',
        '/apis/discovery.k8s.io/v1/namespaces/models/endpointslices/vllm-b',
        '/api/v1/namespaces/models/pods',
        '/api/v1/namespaces/models/secrets',
        '/api/v1/namespaces/discovery/secrets',
      ])
        assert.equal(await status(path), 403, path);
      const path = '/apis/discovery.k8s.io/v1/namespaces/models/endpointslices/vllm-b';
      assert.equal((await own.call('DELETE', path)).status, 403);
    } finally {
      await own.close();
    }
    await api.call('DELETE', '/apis/discovery.k8s.io/v1/namespaces/models/endpointslices/vllm-b');
  });
};
