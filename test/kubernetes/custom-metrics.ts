/** The custom metrics API for the autoscaler: what prometheus-adapter.yaml says, computed from the pods' own metrics. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Api, ApiObject } from './api.ts';
import { root } from './tools.ts';

interface Rule {
  readonly seriesQuery: string;
  readonly metricsQuery: string;
  readonly name?: { readonly as: string };
}

/** Names of the series that are added up, by the metric's name. */
const seriesByMetric = (): ReadonlyMap<string, readonly string[]> => {
  const file = join(root, 'deploy/helm/examples/prometheus-adapter.yaml');
  const { rules } = parse(readFileSync(file, 'utf8')) as {
    readonly rules: { readonly custom: readonly Rule[] };
  };
  return new Map(
    rules.custom.map(({ seriesQuery, metricsQuery, name }) => {
      const series = seriesQuery.replace(/\{.*/, '');
      const several = /__name__=~"([^"]+)"/.exec(metricsQuery)?.[1]?.split('|');
      return [name?.as ?? series, several ?? [series]];
    }),
  );
};

const group = 'custom.metrics.k8s.io';
const address = '10.97.0.1';

interface PodObject extends ApiObject {
  readonly status: { readonly podIP?: string };
}

const sumOf = async (pod: PodObject, series: readonly string[]): Promise<number> => {
  const text = await (await fetch(`http://${pod.status.podIP}:9787/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => series.some((name) => line.startsWith(`${name} `) || line.startsWith(`${name}{`)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
};

/** With the certificate of the API server, which does not look at it. */
export const startCustomMetrics = async (api: Api, certificates: string): Promise<{ close(): void }> => {
  const metrics = seriesByMetric();
  const groupVersion = `${group}/v1beta2`;
  const answer = async (url: URL): Promise<unknown> => {
    const [, namespace, metric = ''] =
      /namespaces\/([^/]+)\/pods\/\*\/(\w+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    if (namespace === undefined)
      return {
        ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion },
        resources: [...metrics.keys()].map((name) => ({
          ...{
            name: `pods/${name}`,
            singularName: '',
            namespaced: true,
            kind: 'MetricValueList',
            verbs: ['get'],
          },
        })),
      };
    const selector = encodeURIComponent(url.searchParams.get('labelSelector') ?? '');
    const pods = await api.list<PodObject>(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`);
    const items = pods
      .filter(({ status }) => status.podIP !== undefined)
      .map(async (pod) => ({
        describedObject: { kind: 'Pod', apiVersion: 'v1', namespace, name: pod.metadata.name },
        metric: { name: metric, selector: null },
        timestamp: new Date().toISOString(),
        value: String(await sumOf(pod, metrics.get(metric) ?? [])),
      }));
    const settled = await Promise.allSettled(items);
    return {
      ...{ kind: 'MetricValueList', apiVersion: groupVersion, metadata: {} },
      items: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    };
  };
  const file = (name: string) => readFileSync(join(certificates, name));
  const server = createServer(
    { cert: file('apiserver.crt'), key: file('apiserver.key') },
    (request, response) => {
      answer(new URL(request.url ?? '/', 'https://adapter')).then(
        (json) => response.setHeader('content-type', 'application/json').end(JSON.stringify(json)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(443, address, resolve);
  });
  const metadata = { name: 'adapter', namespace: 'default' };
  await api.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ports: [{ port: 443 }] },
  } as ApiObject);
  await api.apply({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'adapter' } },
    ports: [{ name: '', port: 443, protocol: 'TCP' }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  } as ApiObject);
  await api.apply({
    ...{
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1beta2.${group}` },
    },
    spec: {
      ...{
        group,
        version: 'v1beta2',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      },
      service: metadata,
    },
  } as ApiObject);
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
